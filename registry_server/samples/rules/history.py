"""How a sample came to be: made backwards from its tip, so that the tip is exactly what was asked for."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from registry_server.samples.schemas import Change, Commit

State = dict[bytes, bytes]
#: One commit in so many is a merge of a branch.
_MERGE_EVERY = 5
#: Of the changes of one commit.
_KINDS = ("add", "change", "delete", "rename")
_WEIGHTS = (45, 40, 9, 6)


def build(random: Random, tip: State, commits: int) -> list[Commit]:
    """The commits, oldest first; the first one adds what the others do not."""
    state = dict(tip)
    movable = sorted(path for path in tip if path.startswith(b"data/") and path.count(b"/") == 2)  # noqa: PLR2004
    later: list[Commit] = []
    for number in range(commits - 1, 0, -1):
        changes = _step(random, state, movable, number)
        message = f"Update {changes[-1].path.decode(errors='replace').removeprefix('data/')}"
        later.append(Commit(message, tuple(changes), side=number % _MERGE_EVERY == 0))
    first = Commit("Start the registry", tuple(Change(path, raw) for path, raw in state.items()))
    return [first, *reversed(later)]


def rewrite(commits: list[Commit], dropped: int, tip: State) -> list[Commit]:
    """The same history with its last commits replaced by one other that leads to `tip`."""
    kept = commits[: max(1, len(commits) - dropped)]
    before = replay(kept)
    changes = [Change(path, None) for path in before if path not in tip]
    changes += [Change(path, raw) for path, raw in tip.items() if before.get(path) != raw]
    return [*kept, Commit("Rewrite what was pushed last", tuple(changes))]


def replay(commits: Iterable[Commit]) -> State:
    """What the commits lead to."""
    state: State = {}
    for commit in commits:
        for change in commit.changes:
            if change.raw is None:
                state.pop(change.path, None)
            else:
                state[change.path] = change.raw
    return state


def _step(random: Random, state: State, movable: list[bytes], number: int) -> list[Change]:
    """Take `state` one commit back, and say what the commit did."""
    changes: list[Change] = []
    for path in random.sample(movable, min(len(movable), random.randint(1, 6))):
        if path not in state:
            continue
        raw = state[path]
        kind = random.choices(_KINDS, weights=_WEIGHTS)[0]
        other = path + f"-OLD{number}".encode()
        if kind == "add":
            del state[path]
        elif kind == "change":
            state[path] = raw + b"remarks:            as it was before\n"
        elif kind == "delete":
            state[other] = raw
            changes.append(Change(other, None))
            continue
        else:
            state[other] = state.pop(path)
            changes.append(Change(other, None))
        changes.append(Change(path, raw))
    if not changes:
        changes.append(Change(b"README.md", state[b"README.md"]))
        state[b"README.md"] += b"\nEdited.\n"
    return changes
