"""`routeloom registry roas`: the ROAs of the last sync as a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.integration.registry.clients import run
from tests.integration.registry.conftest import Registries
from tests.integration.registry.network import FILES
from tests.integration.registry.upstream import Upstream

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


async def test_writes_what_was_synced_and_refuses_what_is_stale(
    registries: Registries,
    upstream: Upstream,
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upstream.commit(FILES)
    registry = await registries.open(upstream)
    await registry.sync()
    monkeypatch.setenv("ROUTELOOM_REGISTRY_DATABASE__URL", database_url)
    monkeypatch.setenv("ROUTELOOM_REGISTRY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setenv("REDIS_URL", "memory://test")
    file = tmp_path / "roa6.conf"
    command = [sys.executable, "-m", "registry_server", "roas"]
    # The test's clock stands in 2030: to the command's own the sync lies in the future, and is never old.
    written = await run(*command, "--format", "bird6", "--output", str(file))
    assert written.status == 0, written.errors
    assert file.read_text() == "route fd42:1::/48 max 64 as 4242429901;\n"
    assert file.stat().st_mode & 0o777 == 0o644
    printed = await run(*command)
    assert len(json.loads(printed.output)["roas"]) == 5
    monkeypatch.setenv("ROUTELOOM_REGISTRY_ROAS__STALE_AFTER", "-P4000D")
    refused = await run(*command, "--output", str(file))
    assert refused.status != 0
    assert file.read_text().startswith("route fd42:1::/48")
