"""What a sync would take from those who rely on the registry, where as many objects stay as there were."""

import pytest

from registry_server.mirror.errors import SyncHeld
from registry_server.mirror.schemas import SyncOutcome
from tests.integration.registry.conftest import Registries
from tests.integration.registry.objects import END
from tests.integration.registry.upstream import Content, Upstream

FILTER = b"1 permit 172.20.0.0/14 21 29\n2 deny 0.0.0.0/0 0 32\n"
FILTER6 = b"1 permit fd00::/8 44 64\n2 deny ::/0 0 128\n"
NUMBERS = range(40)


def routes(first_line: str = "origin:             AS4242429901\n") -> dict[str | bytes, Content]:
    """As many of each family."""
    four = {
        f"data/route/172.20.{number}.0_24": f"route:              172.20.{number}.0/24\n{first_line}{END}"
        for number in NUMBERS
    }
    six = {
        f"data/route6/fd42:{number:x}::_48": f"route6:             fd42:{number:x}::/48\n{first_line}{END}"
        for number in range(1, 41)
    }
    return {path: text.encode() for path, text in {**four, **six}.items()}


def maintainers() -> dict[str | bytes, Content]:
    return {
        f"data/mntner/M{number}-MNT": f"mntner:             M{number}-MNT\n{END}".encode()
        for number in NUMBERS
    }


def people() -> dict[str | bytes, Content]:
    """So many that all maintainers are a small share."""
    return {
        f"data/person/P{number}-DN42": (
            f"person:             Foo\nnic-hdl:            P{number}-DN42\n{END}".encode()
        )
        for number in range(200)
    }


FILES: dict[str | bytes, Content] = {
    "data/filter.txt": FILTER,
    "data/filter6.txt": FILTER6,
    **routes(),
    **maintainers(),
    **people(),
}
NO_LONGER = "origin:             AS4242429901\nmax-length:         20\n"


@pytest.mark.parametrize(
    ("commit", "reason"),
    [
        ({"data/filter.txt": None, "data/filter6.txt": None}, "40 of 40 IPv4 ROAs, 40 of 40 IPv6 ROAs"),
        ({"data/filter6.txt": b""}, "40 of 40 IPv6 ROAs"),
        ({"data/filter.txt": b"1 deny 172.20.0.0/14 21 29\n"}, "40 of 40 IPv4 ROAs"),
        (routes(NO_LONGER), "40 of 40 IPv4 ROAs, 40 of 40 IPv6 ROAs"),
        (dict.fromkeys(maintainers()), "40 of 40 sound mntner objects"),
        (dict.fromkeys(maintainers(), b""), "40 of 40 sound mntner objects"),
    ],
    ids=["no filters", "an empty filter", "all denied", "longer than allowed", "no maintainers", "empty"],
)
async def test_a_loss_without_a_loss_of_objects_is_held_until_forced(
    registries: Registries, upstream: Upstream, commit: dict[str | bytes, Content], reason: str
) -> None:
    upstream.commit(FILES)
    registry = await registries.open(upstream)
    applied = await registry.sync()
    before = await registry.everything()
    upstream.commit(commit)
    with pytest.raises(SyncHeld, match=f"Held: the new state drops {reason}."):
        await registry.sync()
    status = await registry.mirror.status()
    assert (status.commit, status.syncs[0].outcome) == (applied.to_commit, SyncOutcome.HELD)
    assert reason in (status.syncs[0].detail or "")
    assert await registry.everything() == before
    assert (await registry.sync(force=True)).outcome is SyncOutcome.APPLIED


async def test_a_rewritten_history_is_weighed_too(registries: Registries, upstream: Upstream) -> None:
    upstream.commit(FILES)
    registry = await registries.open(upstream)
    await registry.sync()
    upstream.commit({**FILES, "data/filter.txt": b"# soon\n"}, parent=None)
    with pytest.raises(SyncHeld, match="40 of 40 IPv4 ROAs"):
        await registry.sync()


async def test_other_limits_for_the_same_routes_are_no_loss(
    registries: Registries, upstream: Upstream
) -> None:
    upstream.commit(FILES)
    registry = await registries.open(upstream)
    await registry.sync()
    upstream.commit(
        {"data/filter.txt": FILTER.replace(b"29", b"28"), **routes(NO_LONGER.replace("20", "64"))}
    )
    assert (await registry.sync()).outcome is SyncOutcome.APPLIED


async def test_files_outside_the_data_come_and_go_unweighed(
    registries: Registries, upstream: Upstream
) -> None:
    beside: dict[str | bytes, Content] = {"README.md": b"Read me.\n", "utils/schema-check/test": b"1\n"}
    upstream.commit(FILES | beside)
    registry = await registries.open(upstream)
    await registry.sync()
    upstream.commit(dict.fromkeys(beside))
    assert (await registry.sync()).outcome is SyncOutcome.APPLIED
