"""One pass of the applier, or one snapshot, in the network namespace in which this program is started.

python -m tests.integration.agent.apply.one_pass pass|snapshot DIRECTORY   < PUBLISHED STATE
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from node_agent.apply.daemon import Switch
from node_agent.apply.files import ConfigurationPlaces
from node_agent.apply.keys import load_keys
from node_agent.apply.passes import Host, Pass
from node_agent.apply.store import ApplyStore
from node_agent.collect.snapshot import Snapshots
from shared.kernel.clock import utc_now
from shared.protocol.desired_state.document import PublishedState


async def reachable() -> bool:
    """Whether the test says that the controller can be reached."""
    return not Path(sys.argv[2], "controller-away").exists()


async def main() -> None:
    directory = Path(sys.argv[2])
    socket = directory / "bird.ctl"
    if sys.argv[1] == "snapshot":
        sys.stdout.write((await Snapshots(socket, utc_now).take()).model_dump_json() + "\n")
        return
    published = PublishedState.model_validate_json(sys.stdin.read())
    host = Host(
        places=ConfigurationPlaces(directory / "routeloom", directory / "local"),
        store=ApplyStore(directory / "state"),
        keys=load_keys(directory / "state"),
        switch=Switch(socket, reachable, window_seconds=10),
        now=utc_now,
    )
    outcome = await Pass(host, published).run()
    drift = [item.model_dump(mode="json") for item in outcome.drift]
    sys.stdout.write(json.dumps({"result": outcome.result.model_dump(mode="json"), "drift": drift}) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
