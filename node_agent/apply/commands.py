"""Programs of the host, from a fixed table, with arguments as lists and never through a shell."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from enum import StrEnum

from node_agent.apply.errors import HostCommandFailed, HostToolMissing
from node_agent.probes.commands import TOOL_DIRECTORIES, find_executable
from node_agent.probes.processes import TOOL_ENVIRONMENT
from shared.kernel.secrets import redact

_SECONDS = 30.0
_TOLD_CHARACTERS = 600


class HostTool(StrEnum):
    """Everything that the agent may run to apply a desired state."""

    IP = "ip"
    WG = "wg"
    WIREGUARD_GO = "wireguard-go"
    BIRD = "bird"


_PACKAGES = {
    HostTool.IP: "iproute2",
    HostTool.WG: "wireguard-tools",
    HostTool.WIREGUARD_GO: "wireguard-go",
    HostTool.BIRD: "bird2",
}


def find_tool(tool: HostTool) -> str | None:
    """Where the program is; None when it is not installed."""
    return find_executable(tool.value, TOOL_DIRECTORIES)


async def run(tool: HostTool, arguments: Sequence[str], *, stdin: str | None = None) -> str:
    """What the program prints. Raises HostToolMissing or HostCommandFailed with its words.

    What goes in by `stdin` may be secret and stands in no error.
    """
    path = find_tool(tool)
    if path is None:
        detail = f"{tool} is not installed on this host: install the package {_PACKAGES[tool]}."
        raise HostToolMissing(detail)
    code, output, complaint = await _execute(path, arguments, stdin)
    if code != 0:
        said = redact((complaint or output).strip())[-_TOLD_CHARACTERS:]
        detail = f"{tool} {' '.join(arguments)} failed ({code}): {said or 'it said nothing'}"
        raise HostCommandFailed(detail)
    return output


async def _execute(path: str, arguments: Sequence[str], stdin: str | None) -> tuple[int | None, str, str]:
    process = await asyncio.create_subprocess_exec(
        path,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=TOOL_ENVIRONMENT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_SECONDS):
            output, complaint = await process.communicate(None if stdin is None else stdin.encode())
    except TimeoutError:
        detail = f"{path} did not end within {_SECONDS:.0f} s."
        raise HostCommandFailed(detail) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return process.returncode, output.decode(errors="replace"), complaint.decode(errors="replace")
