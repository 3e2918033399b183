"""What bgpq4 makes of our answers in its other modes, and that routers take it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.integration.registry.clients import bgpq4, run
from tests.integration.registry.roas.routers import check_configuration
from tests.integration.registry.serving import Served

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
MEMBERS = ["4242429901", "4242429902", "4242429903"]
OF_TEST = ["172.20.0.0/23", "172.20.0.0/24", "172.20.1.0/27"]


@pytest.mark.parametrize(
    ("arguments", "prefixes"),
    [
        (("DN42::AS-TEST",), OF_TEST),
        (("AS-TEST", "EXCEPT", "AS-SUB"), ["172.20.0.0/24", "172.20.1.0/27"]),
        (("AS-TEST", "EXCEPT", "AS4242429901"), ["172.20.0.0/23", "172.20.0.0/24"]),
        (("-A", "AS4242429901"), ["172.20.0.0/24", "172.20.1.0/27"]),
        (("RS-BELOW",), ["172.20.0.0/16", "172.20.0.0/23", "172.22.0.0/24"]),
    ],
)
async def test_a_set_in_every_spelling(
    served: Served, arguments: tuple[str, ...], prefixes: list[str]
) -> None:
    ended = await bgpq4(served.whois, "-p", "-4", "-j", *arguments)
    assert ended.status == 0, ended.errors
    assert set(prefixes) <= {each["prefix"] for each in json.loads(ended.output)["NN"]}


@pytest.mark.parametrize("mode", [("-t",), ("-f", "4242429901"), ("-G", "4242429901"), ("-w", "-f", "1")])
async def test_paths_name_every_member(served: Served, mode: tuple[str, ...]) -> None:
    flags = ("-b",) if mode == ("-t",) else ()
    ended = await bgpq4(served.whois, "-p", *flags, *mode, "AS-TEST")
    assert ended.status == 0, ended.errors
    assert set(MEMBERS) <= set(re.findall(r"[0-9]{10}", ended.output))


async def test_without_p_it_leaves_out_every_private_number(served: Served) -> None:
    """Why the manual insists on it."""
    ended = await bgpq4(served.whois, "-4", "-F", "%n/%l ", "AS4242429901")
    assert (ended.status, ended.output.split()) == (0, [])


@pytest.mark.parametrize("family", ["-4", "-6"])
async def test_bird_takes_the_list(served: Served, tmp_path: Path, family: str) -> None:
    ended = await bgpq4(served.whois, "-p", "-b", "-l", "OURS", family, "AS-TEST")
    checked = await check_configuration(tmp_path, f"define {ended.output}")
    assert (checked.status, checked.errors) == (0, "")


async def test_openbgpd_takes_the_list(served: Served, tmp_path: Path) -> None:
    ended = await bgpq4(served.whois, "-p", "-B", "-l", "OURS", "-4", "AS-TEST")
    assert all(prefix in ended.output for prefix in OF_TEST)
    configuration = tmp_path / "bgpd.conf"
    configuration.write_text(f"AS 4242429900\nrouter-id 192.0.2.1\n{ended.output}")
    configuration.chmod(0o600)
    done = await run("/usr/sbin/bgpd", "-n", "-f", str(configuration))
    assert done.status == 0, done.errors
