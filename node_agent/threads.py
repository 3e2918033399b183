"""Blocking calls beside the event loop, in threads that never hold up the process's end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

Value = TypeVar("Value")


async def in_thread(call: Callable[[], Value]) -> Value:
    """Await a blocking call. A call that hangs is left behind when the caller stops to wait.

    The loop's own executor is joined at exit, so one hung name lookup there would hold up SIGTERM.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[Value] = loop.create_future()

    def settle(give: Callable[[], None]) -> None:
        if not outcome.done():
            give()

    def work() -> None:
        try:
            give = partial(outcome.set_result, call())
        except Exception as error:  # noqa: BLE001 - handed to the caller
            give = partial(outcome.set_exception, error)
        with suppress(RuntimeError):  # the loop is closed; nobody waits any more
            loop.call_soon_threadsafe(settle, give)

    threading.Thread(target=work, daemon=True, name="routeloom-blocking").start()
    return await outcome
