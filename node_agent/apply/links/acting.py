"""Carrying out a plan, in its order, each action whole or told."""

from __future__ import annotations

from collections.abc import Sequence

from node_agent.apply.commands import run
from node_agent.apply.errors import HostCommandFailed
from node_agent.apply.links.planning import Action, Step


async def carry_out(actions: Sequence[Action]) -> list[str]:
    """Do all; answers what was done. Raises HostToolMissing or HostCommandFailed at the first that fails."""
    done = []
    for action in actions:
        try:
            await _all(action.steps)
        except HostCommandFailed:
            if not action.otherwise:
                raise
            await _all(action.otherwise)
        done.append(action.text)
    return done


async def _all(steps: Sequence[Step]) -> None:
    for step in steps:
        await run(step.tool, step.arguments, stdin=step.stdin)
