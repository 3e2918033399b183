"""OpenBGPD as Debian ships it reads the set of ROAs."""

from pathlib import Path

import pytest

from registry_server.roas.rules.derivation import derive
from registry_server.roas.rules.filters import parse_filter
from registry_server.roas.rules.formats import openbgpd
from tests.integration.registry.clients import run
from tests.integration.registry.network import FILES, route
from tests.integration.registry.upstream import Content
from tests.unit.registry_server.snapshots import snapshot_of

HEAD = "AS 4242429900\nrouter-id 192.0.2.1\n"
#: Each would cost the whole file, if it came through.
ODD: dict[str | bytes, Content] = {
    "data/route/172.20.2.0_24": route("172.20.2.0/24", 4242429901, more=("max-length:20",)),
    "data/route/172.20.3.1_24": route("172.20.3.1/24", 4242429901),
    "data/route/172.20.4.0_24": route("172.20.4.0/24", 0),
    "data/route/172.20.5.0_24": route("172.20.5.0/24", 4294967295, more=("max-length:99",)),
    "data/route/172.16.0.0_12": route("172.16.0.0/12", 4242429901),
    "data/route6/fd42:2::_64": route("fd42:2::/64", 4242429902, 4242429901),
}


def written(files: dict[str | bytes, Content]) -> bytes:
    snapshot = snapshot_of(files)
    rules = {
        family: parse_filter(snapshot.filters[path], family)[0]
        for family, path in ((4, "data/filter.txt"), (6, "data/filter6.txt"))
    }
    return openbgpd(derive(snapshot.origins, rules)[0])


@pytest.mark.parametrize("files", [FILES, {**FILES, **ODD}], ids=["plain", "odd"])
async def test_the_file_is_accepted(tmp_path: Path, files: dict[str | bytes, Content]) -> None:
    roas = written(files)
    assert b"172.20.0.0/24 maxlen 26 source-as 4242429901" in roas
    configuration = tmp_path / "bgpd.conf"
    configuration.write_bytes(HEAD.encode() + roas)
    configuration.chmod(0o600)
    done = await run("/usr/sbin/bgpd", "-n", "-f", str(configuration))
    assert done.status == 0, done.errors
    assert "configuration OK" in done.errors


async def test_a_line_that_is_wrong_would_be_refused(tmp_path: Path) -> None:
    """What the check above is worth."""
    configuration = tmp_path / "bgpd.conf"
    configuration.write_text(f"{HEAD}roa-set {{\n\t172.20.0.0/24 maxlen 20 source-as 1\n}}\n")
    configuration.chmod(0o600)
    assert (await run("/usr/sbin/bgpd", "-n", "-f", str(configuration))).status != 0
