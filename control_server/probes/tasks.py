"""What probes do besides answering requests: hear agents, and watch."""

from __future__ import annotations

from datetime import timedelta

from fastapi import FastAPI

from control_server.agents.service import AgentLink, Switchboard
from control_server.metrics import ProbeMetrics
from control_server.probes.service import ProbeRuns, ProbeWatch
from control_server.probes.store import KvRelay, ProbeRelay, Relay, RelayWithFallback
from control_server.resources import ControlResources
from shared.kernel.loops import Loop
from shared.protocol.frames import ProbeAccepted, ProbeDone, ProbeOutput


def attach(app: FastAPI, resources: ControlResources, link: AgentLink) -> list[Loop]:
    """Put probes to work in this process; the first pass of the watch ends what a dead one left."""
    here = ProbeRelay(resources.now)
    relay: Relay = RelayWithFallback(KvRelay(resources.kv), here) if resources.kv.configured else here
    runs = ProbeRuns(
        database=resources.database,
        relay=relay,
        link=link,
        settings=resources.settings.probes,
        metrics=ProbeMetrics.in_registry(app.state.metrics.registry, relay.viewers),
        now=resources.now,
    )
    app.state.probe_runs = runs
    app.state.probe_watch = ProbeWatch(runs)
    hear(link.switchboard, runs)
    return [Loop("probes.watch", app.state.probe_watch.run_once, interval=timedelta(seconds=1))]


def hear(switchboard: Switchboard, runs: ProbeRuns) -> None:
    """Which act of ours answers which frame of an agent."""
    switchboard.handlers[ProbeAccepted] = runs.accepted
    switchboard.handlers[ProbeOutput] = runs.output
    switchboard.handlers[ProbeDone] = runs.done
    switchboard.when_ready.append(runs.agent_ready)
    switchboard.when_lost.append(runs.agent_lost)
