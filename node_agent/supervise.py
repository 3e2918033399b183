"""Starting the agent so that it outlives whoever starts it, finding it again, and ending it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from node_agent import state
from node_agent.errors import AgentDidNotStart
from node_agent.settings import ENROLMENT_TOKEN_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from node_agent.settings import AgentSettings

_START_SECONDS = 20.0
_STOP_SECONDS = 5.0
_POLL_SECONDS = 0.02
_LOG_BYTES = 1_048_576


def spawn_detached(settings: AgentSettings) -> int:
    """Start the agent in a session of its own and answer its process id.

    An agent that already runs on the state directory is adopted: it is told to reconnect at once, and
    its id is the answer. One of another version, or for another server, is ended and replaced.
    Raises AgentDidNotStart.
    """
    holder = state.lock_holder(settings.state_directory)
    if holder is not None and holder.purpose == settings.purpose:
        nudge(settings.state_directory)
        return holder.pid
    stop(settings.state_directory)
    state.prepare(settings.state_directory)
    with _log_file(settings.state_directory).open("ab") as log_file:
        child = subprocess.Popen(
            [sys.executable, "-m", "node_agent", "run"],
            stdin=subprocess.DEVNULL,
            stdout=log_file,
            stderr=log_file,
            env=_environment(settings),
            start_new_session=True,
        )
    # Whoever started it lives on beside it, and must not keep its remains as a zombie.
    threading.Thread(target=child.wait, daemon=True, name="agent-reaper").start()
    _wait(
        lambda: running_pid(settings.state_directory) is not None or child.poll() is not None, _START_SECONDS
    )
    pid = running_pid(settings.state_directory)
    if pid is None:
        raise AgentDidNotStart(
            f"The agent ended right after its start; see {_log_file(settings.state_directory)}."
        )
    return pid


def running_pid(state_directory: Path) -> int | None:
    """The process id of the agent that runs on this state directory, or None."""
    holder = state.lock_holder(state_directory)
    return holder.pid if holder is not None else None


def nudge(state_directory: Path) -> int | None:
    """Tell a running agent to reconnect now; answers its process id, or None when none runs."""
    pid = running_pid(state_directory)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGHUP)
    return pid


def stop(state_directory: Path, *, patience: float = _STOP_SECONDS) -> bool:
    """End the agent, by force if it has not gone after `patience` seconds; answers whether one ran."""
    pid = running_pid(state_directory)
    if pid is None:
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        if _wait(lambda: running_pid(state_directory) != pid, patience):
            break
    return True


def _environment(settings: AgentSettings) -> dict[str, str]:
    """The caller's environment, with the settings in the agent's own variables."""
    values = settings.model_dump(mode="json", exclude_none=True)
    own = {f"ROUTELOOM_AGENT_{name.upper()}": str(value) for name, value in values.items()}
    path = os.pathsep.join(filter(None, (str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH"))))
    inherited = {name: value for name, value in os.environ.items() if name != ENROLMENT_TOKEN_VARIABLE}
    return {**inherited, **own, "PYTHONPATH": path}


def _log_file(directory: Path) -> Path:
    """The log, with the one before it set aside when it has grown."""
    path = directory / "agent.log"
    with suppress(FileNotFoundError):
        if path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
    return path


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True
