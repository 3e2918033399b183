"""The made-up registry that both servers hold, and what both are asked."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from registry_server.objects.rules.paths import place
from registry_server.objects.rules.reading import read_object
from registry_server.samples.schemas import SampleFile, SamplePlan
from registry_server.samples.service import imagine

PLAN = SamplePlan(objects=600, commits=2, seed=7)
RECORDING = Path(__file__).with_name("irrd-answers.json")
_EVERY = 12


def files(plan: SamplePlan = PLAN) -> list[SampleFile]:
    """The files at the tip that are sound objects of the registry."""
    return [file for file in imagine(plan)[0] if file.object_class and _is_sound(file)]


def _is_sound(file: SampleFile) -> bool:
    where, problem = place(file.path)
    return where is not None and problem is None and read_object(where, file.raw).indexed


def questions(held: Sequence[SampleFile]) -> list[str]:
    """What is asked: every kind of query, about what is there and what is not."""
    asked = list(_FIXED)
    keys = {
        name: [file.path.decode().split("/")[2] for file in held if file.object_class == name]
        for name in _CLASSES
    }
    for key in keys["aut-num"][::_EVERY]:
        asked += [f"!g{key}", f"!6{key.lower()}", f"!maut-num,{key.lower()}"]
    for key in keys["as-set"]:
        asked += [f"!i{key}", f"!i{key.lower()},1", f"!a4{key}", f"!a6{key}", f"!a{key}"]
    for key in keys["mntner"][::_EVERY]:
        asked += [f"!o{key}", f"!mmntner,{key}"]
    for key in (*keys["route"][::_EVERY], *keys["route6"][::_EVERY]):
        prefix = key.replace("_", "/")
        asked += [f"!r{prefix}", f"!r{prefix},o", f"!r{prefix},l", f"!r{prefix},L", f"!r{prefix},M"]
    for key in keys["person"][::_EVERY]:
        asked += [key.lower(), f"-T person {key.lower()}", f"-K -T person {key.lower()}"]
    return asked


_CLASSES = ("aut-num", "as-set", "mntner", "route", "route6", "person")
_FIXED = (
    *(
        "!a",
        "!a4",
        "!s-*",
        "!s-lc",
        "!sdn42",
        "!sRIPE",
        "!iAS-NONE",
        "!iAS-NONE,1",
        "!iAS4242429901",
        "!iRS-NONE,1",
    ),
    *(
        "!gASx",
        "!gAS99999999999",
        "!g4242429901",
        "!gAS0",
        "!6AS0",
        "!g",
        "!i",
        "!",
        "!x",
        "!t10",
        "!t0",
        "!tx",
    ),
    *("!jDN42", "!jNOPE", "!j-*", "!e-lc", "!mfoo,bar", "!mx", "!oNO-MNT", "!r172.20.0.1", "!r172.20.0.1/24"),
    *("!r10.0.0.0/8,x", "!a4AS-NONE", "!nclient 1.0", "no-mnt", "-T foo dn42-mnt", "-V client no-mnt"),
)


def ask(port: int, asked: Iterable[str]) -> dict[str, str]:
    """The answer to each question, on a connection of its own."""
    answers = {}
    for question in asked:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
            client.sendall(question.encode() + b"\n")
            pieces = []
            while piece := client.recv(65536):
                pieces.append(piece)
        answers[question] = b"".join(pieces).decode()
    return answers


@dataclass(frozen=True, slots=True)
class Recording:
    """The objects that IRRd took, by path, and what it answered."""

    objects: dict[str, bytes]
    answers: dict[str, str]


def recorded() -> Recording:
    """The recording that is kept with the tests."""
    found = json.loads(RECORDING.read_text(encoding="utf-8"))
    objects = {path: text.encode() for path, text in found["objects"].items()}
    return Recording(objects, found["answers"])
