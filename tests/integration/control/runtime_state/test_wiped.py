"""Wiping the runtime state in the middle of a probe changes nothing that anybody reads of it."""

from pathlib import Path

import pytest

from shared.testing.servers import KeyValueServer
from tests.integration.control.probes.conftest import (  # noqa: F401 - fixtures
    clock,
    on_sqlite,
    sqlite_template,
)
from tests.integration.control.probes.stage import HandClock, Prepared, serving, settings_of


async def test_a_probe_ends_as_it_would_have(
    on_sqlite: Prepared,  # noqa: F811
    clock: HandClock,  # noqa: F811
    valkey: KeyValueServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REDIS_URL", f"{valkey.url}/7")
    settings = settings_of(on_sqlite, tmp_path)
    async with serving(settings, clock, on_sqlite) as stage, stage.agent() as agent:
        probe_id = await stage.create("alpha")
        await stage.started(agent)
        await agent.output(probe_id, "one")
        before = await stage.resources.runtime_state.stats()
        assert before.active_keys
        valkey.flush()
        await agent.output(probe_id, "two")
        await agent.done(probe_id, summary={"loss": 0.0})
        read = await stage.finished(probe_id)
    assert (read["state"], [line["text"] for line in read["lines"]]) == ("done", ["one", "two"])
