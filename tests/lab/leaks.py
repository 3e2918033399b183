"""Where a node's secrets could have got to: everything that anybody could read is read, and searched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.building import Lab
from tests.lab.recording import frames

#: Streams have no end, and these answer nobody but an agent.
_NOT_ASKED = re.compile(r"stream|/agent/|\{(?!node_id|ident|number|path)")
_OTHERS = 0o007
_NOT_OURS = 0o077


@dataclass(frozen=True)
class Finding:
    """A secret where it must not be."""

    secret: str
    place: str


def find_leaks(lab: Lab, secrets: Mapping[str, bytes]) -> list[Finding]:
    """Ask and open everything; nothing is what should be found."""
    return [
        Finding(name, place)
        for place, content in _everything(lab)
        for name, secret in secrets.items()
        if secret in content
    ]


def _everything(lab: Lab) -> Iterator[tuple[str, bytes]]:
    yield from _answers(lab)
    yield from _previews(lab)
    yield from _pages(lab)
    # Rows of every table with what the journal still holds, logs, and whatever else a service has written.
    for file in sorted(path for path in lab.hub.directory.iterdir() if path.is_file()):
        yield str(file), file.read_bytes()
    yield from _frames(lab.hub.directory)
    for router in (*lab.nodes.values(), *lab.neighbours.values()):
        yield f"BIRD of {router.name}", router.ask("show protocols all").encode()
    for name, agent in lab.agents.items():
        yield f"log of {name}", agent.log.encode()


def _answers(lab: Lab) -> Iterator[tuple[str, bytes]]:
    described = lab.hub.want("GET", "/openapi.json")["paths"]
    peerings = lab.hub.want("GET", "/api/v1/peerings")["items"]
    links = lab.hub.want("GET", "/api/v1/links")["items"]
    asked = 0
    for path, methods in described.items():
        if "get" not in methods or _NOT_ASKED.search(path):
            continue
        idents = [entry["id"] for entry in (links if "/links/" in path else peerings)]
        for filled in _filled(lab, path, idents):
            found = lab.hub.request("GET", filled, {"Authorization": f"Bearer {lab.hub.token}"})
            asked += found["status"] == 200
            yield f"GET {filled}", json.dumps(found).encode()
    # What is not asked leaks nothing: the search is worth something only if it was answered.
    assert asked > 20, asked


def _filled(lab: Lab, path: str, idents: list[str]) -> Iterator[str]:
    """The path for every node, generation and peering that there is."""
    if "{ident}" in path:
        yield from (path.replace("{ident}", ident) for ident in idents)
        return
    for node in lab.nodes if "{node_id}" in path else [""]:
        of_node = path.replace("{node_id}", node)
        if "{number}" not in path:
            yield of_node
            continue
        newest = lab.generation(node)
        # All of the node that has secrets to lose, one of each other.
        numbers = range(1 if node == "r1" else newest, newest + 1)
        yield from (of_node.replace("{number}", str(number)) for number in numbers)


def _previews(lab: Lab) -> Iterator[tuple[str, bytes]]:
    peering = lab.hub.peering("r1", "f")
    change: dict[str, Any] = {"session": {"policy": {"prepend": 3}}}
    path = f"/api/v1/peerings/{peering['id']}?preview=true"
    shown = lab.hub.want("PATCH", path, change, version=peering["version"])
    yield path, json.dumps(shown).encode()
    preview = f"/api/v1/previews/{shown['preview_id']}"
    for name in ("peers/f.conf", "main.conf", "links/wg-f.conf"):
        found = lab.hub.request(
            "GET", f"{preview}/files/nodes/r1/{name}", {"Authorization": f"Bearer {lab.hub.token}"}
        )
        yield f"{preview} {name}", found["text"].encode()
    yield preview, json.dumps(lab.hub.want("GET", preview)).encode()


def _pages(lab: Lab) -> Iterator[tuple[str, bytes]]:
    peering = lab.hub.peering("r1", "f")
    paths = ["/nodes", "/nodes/r1", "/nodes/r1/generations", "/nodes/r1/files", "/nodes/r1/peerings"]
    for path in (*paths, f"/nodes/r1/peerings/{peering['id']}", "/audit"):
        found = lab.hub.request("GET", path, {"Accept": "text/html", "Cookie": lab.hub.cookie})
        yield f"page {path}", found["text"].encode()


def _frames(directory: Path) -> Iterator[tuple[str, bytes]]:
    """What agents and server said to one another; agents mask it, as every WebSocket client does."""
    recorded = sorted((directory / "recorded").iterdir())
    kinds = set()
    for file in recorded:
        content = file.read_bytes()
        yield str(file), content
        if b"Upgrade: websocket" in content or b"upgrade: websocket" in content.lower():
            for payload in frames(content):
                kinds.update(re.findall(rb'"type":"(\w+)"', payload[:80]))
                yield f"frame of {file}", payload
    assert {b"hello", b"heartbeat", b"apply_result", b"runtime_snapshot"} <= kinds, kinds


def files_with(directory: Path, secret: bytes) -> dict[str, int]:
    """Files that hold the secret, and who may read them."""
    return {
        str(path.relative_to(directory)): path.stat().st_mode & 0o777
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink() and secret in path.read_bytes()
    }


def private(mode: int) -> bool:
    """Nobody but the owner."""
    return not mode & _NOT_OURS


def shared_with_the_daemon(mode: int) -> bool:
    """Owner and group, and nobody else."""
    return not mode & _OTHERS
