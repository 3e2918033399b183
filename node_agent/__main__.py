"""`python -m node_agent run | enrol`: settings come from `ROUTELOOM_AGENT_…` variables.

`enrol` reads the one-shot token from standard input or `ROUTELOOM_AGENT_ENROLMENT_TOKEN`, never from an
argument, which every user of the host could read in the process list.
"""

from __future__ import annotations

import argparse
import asyncio
import getpass
import os
import sys

from pydantic import ValidationError

from node_agent import logs
from node_agent.collect.capabilities import find_capabilities
from node_agent.enrolment import enrol
from node_agent.run import main as run_agent
from node_agent.settings import ENROLMENT_TOKEN_VARIABLE, AgentSettings
from shared.kernel.errors import AppError


def main(arguments: list[str] | None = None, program: str = "python -m node_agent") -> int:
    """Run the command and answer the exit code."""
    parser = argparse.ArgumentParser(prog=program, description="The agent of one node.")
    parser.add_argument("command", choices=("run", "enrol"))
    command = parser.parse_args(arguments).command
    try:
        settings = AgentSettings()
        logs.configure(as_json=settings.log_json)
        asyncio.run(run_agent(settings) if command == "run" else _enrol(settings))
    except AppError as refusal:
        print(refusal.detail, file=sys.stderr)  # noqa: T201 - the answer to the person
        return 1
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            place = "_".join(str(part) for part in problem["loc"]).upper()
            print(f"ROUTELOOM_AGENT_{place}: {problem['msg']}.", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


async def _enrol(settings: AgentSettings) -> None:
    token = os.environ.get(ENROLMENT_TOKEN_VARIABLE) or ("" if sys.stdin.isatty() else sys.stdin.readline())
    enrolled = await enrol(settings, token.strip() or None, capabilities=await find_capabilities())
    print(f"Enrolled as {enrolled.node_id}.")  # noqa: T201 - the answer to the person


def _asked_token() -> str:
    if sys.stdin.isatty():
        return getpass.getpass("Enrolment token (nothing is shown): ")
    return sys.stdin.readline()


if __name__ == "__main__":
    sys.exit(main())
