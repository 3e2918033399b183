"""One complete node, pinned byte by byte, and accepted by BIRD.

A wanted change is taken over with `python -m tests.unit.shared.rendering.test_golden`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.protocol.desired_state.document import DesiredState
from shared.rendering.bird import LOCAL_DIRECTORY, Surroundings, render
from shared.rendering.bundle import Bundle
from shared.rendering.links import render_links
from shared.rendering.versions import BirdVersion
from tests.unit.shared.rendering.bird import complaint, surroundings
from tests.unit.shared.rendering.complete import complete_state

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = {"2.0.12": BirdVersion(2, 0, 12), "2.17.1": BirdVersion(2, 17, 1), "3.1.8": BirdVersion(3, 1, 8)}


def golden_files(version: str) -> dict[str, str]:
    """Everything that the complete node gets, by path."""
    bundle = render(complete_state(), 42, Surroundings(VERSIONS[version], local_directory=LOCAL_DIRECTORY))
    return {**bundle.files, **render_links(complete_state())}


@pytest.mark.parametrize("version", VERSIONS)
def test_the_complete_node_is_what_is_pinned(version: str) -> None:
    place = GOLDEN / version
    pinned = {str(path.relative_to(place)): path.read_text() for path in place.rglob("*.conf")}
    assert golden_files(version) == pinned


def test_the_installed_bird_accepts_it(tmp_path: Path) -> None:
    assert complaint(tmp_path, _bundle(complete_state(), tmp_path).files) == ""


def test_an_empty_node_is_accepted(tmp_path: Path) -> None:
    bare = {"node": {"id": "r9", "number": 9, "asn": 4242429900, "router_id": "172.20.99.9"}}
    assert complaint(tmp_path, _bundle(DesiredState.model_validate(bare), tmp_path).files) == ""


def test_a_decommissioned_node_routes_nothing(tmp_path: Path) -> None:
    retired = complete_state().model_copy(update={"routing": False})
    bundle = _bundle(retired, tmp_path)
    assert set(bundle.files) == {"main.conf", "00-node.conf"}
    assert "protocol bgp" not in "".join(bundle.files.values())
    assert complaint(tmp_path, bundle.files) == ""


def test_the_internet_profile_is_accepted(tmp_path: Path) -> None:
    state = complete_state()
    public = state.model_copy(update={"policy": state.policy.model_copy(update={"profile": "internet"})})
    bundle = _bundle(public, tmp_path)
    assert "RL_BOGON4" in bundle.files["20-policy.conf"]
    assert complaint(tmp_path, bundle.files) == ""


def test_the_same_state_has_the_same_name_and_another_has_another(tmp_path: Path) -> None:
    first, again = _bundle(complete_state(), tmp_path), _bundle(complete_state(), tmp_path)
    assert first == again
    other = _bundle(complete_state().model_copy(update={"peerings": ()}), tmp_path)
    assert other.identity.split("-")[1] != first.identity.split("-")[1]


def _bundle(state: DesiredState, directory: Path) -> Bundle:
    return render(state, 42, surroundings(directory))


if __name__ == "__main__":
    for name in VERSIONS:
        for path, text in golden_files(name).items():
            target = GOLDEN / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
