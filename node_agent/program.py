"""The agent's commands: run, enrol, doctor, pause, resume; settings come from `ROUTELOOM_AGENT_…`.

`enrol` reads the one-shot token from standard input or `ROUTELOOM_AGENT_ENROLMENT_TOKEN`, never from an
argument, which every user of the host could read in the process list.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from pydantic import ValidationError

from node_agent import doctor, logs, state
from node_agent.apply.store import ApplyStore
from node_agent.collect.capabilities import find_capabilities
from node_agent.enrolment import enrol
from node_agent.run import main as run_agent
from node_agent.settings import ENROLMENT_TOKEN_VARIABLE, AgentSettings
from shared.kernel import interrupts
from shared.kernel.errors import AppError


def main(arguments: list[str] | None = None, program: str = "python -m node_agent") -> int:
    """Run the command and answer the exit code."""
    parser = argparse.ArgumentParser(prog=program, description="The agent of one node.")
    verbs = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    verbs.add_parser("run", help="serve the node until stopped")
    verbs.add_parser("enrol", help="become the agent of a node with a one-shot token")
    doctor_of_host = verbs.add_parser("doctor", help="say what is wrong on this host and how to mend it")
    doctor_of_host.add_argument("--json", action="store_true", help="findings as one JSON document")
    verbs.add_parser("pause", help="change nothing on this host until `resume`")
    verbs.add_parser("resume", help="apply the desired state again")
    given = parser.parse_args(arguments)
    command = given.command
    try:
        settings = AgentSettings()
        logs.configure(as_json=settings.log_json)
        if command == "doctor":
            return _tell(doctor.run(settings), as_json=given.json)
        if command in {"pause", "resume"}:
            _pause(settings, paused=command == "pause")
            return 0
        interrupts.run(run_agent(settings) if command == "run" else _enrol(settings))
    except AppError as refusal:
        print(refusal.detail, file=sys.stderr)  # noqa: T201 - the answer to the person
        return 1
    except ValidationError as error:
        for problem in error.errors(include_input=False, include_url=False):
            place = "_".join(str(part) for part in problem["loc"]).upper()
            print(f"ROUTELOOM_AGENT_{place}: {problem['msg']}.", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        return interrupts.INTERRUPTED
    return 0


def _pause(settings: AgentSettings, *, paused: bool) -> None:
    state.prepare(settings.state_directory)
    store = ApplyStore(settings.state_directory)
    if paused:
        store.pause()
        print("Paused: nothing on this host is changed until `resume`.")  # noqa: T201 - the answer
    else:
        store.resume()
        print("Resumed: the desired state is applied again within a minute.")  # noqa: T201 - the answer


def _tell(findings: list[doctor.Finding], *, as_json: bool) -> int:
    """Print the findings; 1 when something has to be mended."""
    if as_json:
        print(json.dumps([finding.as_dict() for finding in findings], indent=2))  # noqa: T201 - the answer
    else:
        for finding in findings:
            remedy = f"\n         {finding.remedy}" if finding.remedy else ""
            print(f"{finding.grade:8} {finding.text}{remedy}")  # noqa: T201 - the answer
    return 1 if any(finding.grade is doctor.Grade.PROBLEM for finding in findings) else 0


async def _enrol(settings: AgentSettings) -> None:
    token = os.environ.get(ENROLMENT_TOKEN_VARIABLE) or ("" if sys.stdin.isatty() else sys.stdin.readline())
    enrolled = await enrol(settings, token.strip() or None, capabilities=await find_capabilities())
    print(f"Enrolled as {enrolled.node_id}.")  # noqa: T201 - the answer to the person
