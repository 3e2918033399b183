"""Which tools this node has. One that is missing is a missing capability, not a failure."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

from node_agent.probes.commands import TOOL_DIRECTORIES, find_executable
from node_agent.probes.processes import TOOL_ENVIRONMENT
from shared.protocol.frames import Capabilities
from shared.protocol.probes import Tool

_VERSION_OPTION = {Tool.PING: "-V", Tool.TRACEROUTE: "--version", Tool.MTR: "--version"}
_SECONDS = 2.0
_TEXT_LENGTH = 80


async def find_capabilities(directories: Sequence[str] = TOOL_DIRECTORIES) -> Capabilities:
    """Every tool that can be executed, with the first line it prints about its version."""
    found = {tool: path for tool in Tool if (path := find_executable(tool, directories))}
    versions = await asyncio.gather(*(_version(path, _VERSION_OPTION[tool]) for tool, path in found.items()))
    return Capabilities(tools={tool.value: text for tool, text in zip(found, versions, strict=True)})


async def _version(path: str, option: str) -> str:
    with contextlib.suppress(OSError, TimeoutError):
        process = await asyncio.create_subprocess_exec(
            path,
            option,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=TOOL_ENVIRONMENT,
        )
        try:
            async with asyncio.timeout(_SECONDS):
                output, _ = await process.communicate()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        lines = output.decode(errors="replace").splitlines()
        return next((line.strip()[:_TEXT_LENGTH] for line in lines if line.strip()), "unknown")
    return "unknown"
