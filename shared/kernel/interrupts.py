"""Ctrl-C of a program: whenever it comes, the program ends with one status and says nothing of its inside.

Imports little, because a program calls `leave_at_once` before everything else it imports.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine, Iterator

T = TypeVar("T")

#: The exit status of a program that was interrupted, as shells count it: 128 and the number of SIGINT.
INTERRUPTED = 130


def leave_at_once() -> None:
    """From here on SIGINT ends the program where it stands, silently, except inside `orderly` and `run`.

    A program that was started to ignore SIGINT, as with nohup, goes on ignoring it. One that was started with
    SIGINT blocked, so that none could come too early, gets now what came meanwhile.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


@contextmanager
def orderly() -> Iterator[None]:
    """Let SIGINT raise KeyboardInterrupt in here: for work that has something to put back."""
    if (
        signal.getsignal(signal.SIGINT) is not _leave
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, _leave)


def run(
    work: Coroutine[Any, Any, T], loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> T:
    """Run to the end on a loop of its own; SIGINT cancels it, and KeyboardInterrupt is what then comes out.

    Whatever fails because of it is told to nobody. A second SIGINT leaves at once. Work that has handlers of
    its own for SIGINT, as a server has, decides itself.
    """
    import asyncio  # noqa: PLC0415 - a program that has only begun does not wait for it

    ours = _leaves_at_once()
    interruption = _Interruption()
    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:  # noqa: TID251 - this is the one place
            return runner.run(interruption.ending(work) if ours else work)
    except BaseException as error:
        if interruption.came:
            raise KeyboardInterrupt from error
        raise
    finally:
        if ours:  # a loop puts Python's own handler back where it has had one
            signal.signal(signal.SIGINT, _leave)


class _Interruption:
    """SIGINT while a loop runs."""

    came = False

    async def ending(self, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, and cancel it when SIGINT comes."""
        import asyncio  # noqa: PLC0415 - see above
        import logging  # noqa: PLC0415 - see above

        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None  # noqa: S101 - a coroutine that runs has a task

        def take(number: int, frame: object) -> None:
            if self.came:
                _leave(number, frame)
            self.came = True
            logging.disable(logging.CRITICAL)
            loop.call_soon_threadsafe(task.cancel)

        signal.signal(signal.SIGINT, take)
        try:
            done = await work
        finally:
            signal.signal(signal.SIGINT, _leave)
        if self.came:
            raise asyncio.CancelledError
        return done


def _leaves_at_once() -> bool:
    here = threading.current_thread() is threading.main_thread()  # where alone handlers can be set
    return here and signal.getsignal(signal.SIGINT) is _leave


# Bound now: late in the end of the interpreter, the names of a module may be gone.
def _leave(_number: int, _frame: object, leave: Callable[[int], object] = os._exit) -> None:
    leave(INTERRUPTED)
