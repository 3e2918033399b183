"""`routeloom registry …` as people type it, against a server."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from routeloom.cli.main import app
from shared.testing.servers.ports import free_loopback_port
from shared.testing.waiting import wait_until
from tests.integration.registry.objects import ASN, ROUTE
from tests.integration.registry.upstream import Upstream
from tests.integration.registry.world import WORLD

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[str]:
    """A server in a process of its own, whose log is not mixed with what commands print."""
    directory = tmp_path_factory.mktemp("cli")
    upstream = Upstream.create(directory / "upstream.git")
    commit = upstream.commit(WORLD)
    shutil.copy(sqlite_template, directory / "registry.db")
    port = free_loopback_port()
    environment = {
        "PATH": os.environ["PATH"],
        "ROUTELOOM_REGISTRY_DATABASE__URL": f"sqlite:///{directory}/registry.db",
        "ROUTELOOM_REGISTRY_STATE_DIRECTORY": str(directory),
        "ROUTELOOM_REGISTRY_MIRROR__URL": str(upstream.directory),
        "ROUTELOOM_REGISTRY_WEB__PORT": str(port),
    }
    command = [sys.executable, "-m", "registry_server", "serve"]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    try:
        asyncio.run(wait_until(lambda: serves(port, commit), seconds=60))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def serves(port: int, commit: str) -> bool:
    """Whether the commit is what is answered."""
    try:
        status = httpx2.get(f"http://127.0.0.1:{port}/registry/api/v1/status").json()
    except httpx2.TransportError:
        return False
    return bool(status["commit"] == commit)


def run(address: str, *words: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, ["registry", *words, "--server", address])
    assert done.exit_code == status, done.output
    return done.output


def test_search_lists_what_fits_best_first(address: str) -> None:
    lines = run(address, "search", "as-foo").splitlines()
    assert re.match(r"Class +Key +Name", lines[0])
    assert re.match(r"as-set +AS-FOO", lines[1])
    assert "Nothing found" in run(address, "search", "no", "such", "words")


def test_show_prints_the_text_itself(address: str) -> None:
    assert run(address, "show", "route", "172.20.0.0/24") == ROUTE
    shown = json.loads(run(address, "show", "aut-num", "as4242429901", "--json"))
    assert (shown["key"], shown["raw"]) == ("AS4242429901", ASN)


def test_routes_and_prefixes_are_tables(address: str) -> None:
    assert re.search(r"172.20.0.0/24 +26 +FOO-MNT", run(address, "routes", "AS4242429901"))
    assert "AS4242429901" in run(address, "prefix", "172.20.0.1", "--match", "longest")
    assert json.loads(run(address, "prefix", "172.20.0.1", "--json"))["prefix"] == "172.20.0.1/32"


def test_an_as_set_is_one_number_a_line(address: str) -> None:
    assert run(address, "as-set", "AS-FOO").split() == ["AS4242429901", "AS4242429902", "AS4242429903"]


def test_a_connection_is_told_link_by_link(address: str) -> None:
    lines = run(address, "connection", "mntner/FOO-MNT", "as-set/AS-SELF").splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["mntner", "FOO-MNT", "–"],
        ["as-set", "AS-SELF", "its", "mnt-by"],
    ]


def test_problems_are_told_as_check_tells_them(address: str) -> None:
    line = "data/route/172.21.0.1_24:1: error: 172.21.0.1/24: bits are set behind the length"
    assert line in run(address, "problems", "--severity", "error")


def test_history_lists_changes_and_shows_one(address: str) -> None:
    commit = json.loads(run(address, "history", "as-set", "AS-FOO", "--json"))["items"][0]["commit"]
    assert commit[:12] in run(address, "history", "as-set", "AS-FOO")
    assert "+as-set:             AS-FOO" in run(address, "history", "as-set", "AS-FOO", "--commit", commit)


def test_a_refusal_is_a_sentence_and_a_status(address: str) -> None:
    assert "no such object" in run(address, "show", "aut-num", "AS1", status=1)
    assert "does not answer" in run("http://127.0.0.1:1", "search", "foo", status=3)


def test_help_lists_the_service_and_the_questions() -> None:
    shown = CliRunner().invoke(app, ["registry", "--help"]).output
    assert all(f" {name} " in shown for name in ("serve", "generate", "check", "sync", "search", "history"))


class TestSchema:
    def test_lists_classes_and_shows_one(self, address: str) -> None:
        assert re.search(r"^aut-num +aut-num +–", run(address, "schema"), re.MULTILINE)
        shown = run(address, "schema", "route")
        assert re.search(r"^origin +required +multiple", shown, re.MULTILINE)
        assert json.loads(run(address, "schema", "route", "--json"))["source"] == "built-in"

    def test_an_unknown_class_is_told_where_to_look(self, address: str) -> None:
        assert "lists those that there are" in " ".join(run(address, "schema", "nope", status=1).split())


class TestMay:
    def test_says_yes_to_the_maintainer_and_no_to_others(self, address: str) -> None:
        assert "FOO-MNT may change" in run(address, "may", "FOO-MNT", "route", "172.20.0.128/25")
        refused = run(address, "may", "OTHER-MNT", "route", "172.20.0.128/25", status=1)
        assert refused.endswith("[policy_not_yours]\n")
        answer = run(address, "may", "OTHER-MNT", "route", "172.20.0.128/25", "--json", status=1)
        assert json.loads(answer)["allowed"] is False

    def test_what_can_be_no_key_is_refused_in_words(self, address: str) -> None:
        assert "an AS number is AS and a number" in run(address, "may", "FOO-MNT", "aut-num", "x", status=1)
