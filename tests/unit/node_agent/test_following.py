"""Which sessions are reloaded: those whose limits changed, and no other."""

from __future__ import annotations

from pathlib import Path

from node_agent.apply.following import sessions_with_other_limits
from shared.rendering.bundle import Bundle


def peer(name: str, *limits: str) -> str:
    lines = "\n".join(f"    {limit};" for limit in limits)
    return f"protocol bgp rl_{name} from rl_ebgp {{\n  ipv4 {{\n{lines}\n  }};\n}}\n"


def changed(directory: Path, before: dict[str, str], after: dict[str, str]) -> set[str]:
    (directory / "peers").mkdir()
    for name, text in before.items():
        (directory / name).write_text(text)
    return set(sessions_with_other_limits(directory, Bundle("2-x", after)))


def test_a_raised_and_a_removed_limit(tmp_path: Path) -> None:
    before = {f"peers/{name}.conf": peer(name, "import limit 3 action block") for name in ("a", "b", "c")}
    after = {
        "peers/a.conf": peer("a", "import limit 9 action block"),
        "peers/b.conf": peer("b"),
        "peers/c.conf": peer("c", "import limit 3 action block", "preference 9"),
    }
    assert changed(tmp_path, before, after) == {"rl_a", "rl_b"}


def test_what_is_new_or_gone_is_left_alone(tmp_path: Path) -> None:
    before = {"peers/a.conf": peer("a", "import limit 3 action block")}
    after = {"peers/b.conf": peer("b", "import limit 9 action block"), "00-node.conf": "import limit"}
    assert changed(tmp_path, before, after) == set()


def test_both_sessions_of_a_peering(tmp_path: Path) -> None:
    old = peer("a_4", "receive limit 3 action warn") + peer("a_6", "receive limit 3 action warn")
    new = old.replace("3", "9")
    assert changed(tmp_path, {"peers/a.conf": old}, {"peers/a.conf": new}) == {"rl_a_4", "rl_a_6"}
