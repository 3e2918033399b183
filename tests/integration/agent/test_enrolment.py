"""Enrolment against a real HTTP server that checks the proof as the control server does."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import stat
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from node_agent import state
from node_agent.enrolment import enrol
from node_agent.errors import EnrolmentRefused, ServerUnreachable, StateDirectoryUnusable
from node_agent.settings import AgentSettings
from shared.kernel.secrets import mint
from shared.protocol.enrolment import EnrolmentRequest, signed_message


class Office(ThreadingHTTPServer):
    """Answers enrolment; `answers` are given in order, the last one for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Desk)
        self.requests: list[EnrolmentRequest] = []
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.challenges: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    paths: ClassVar = {"/api/v1/agent/enrol/challenges", "/api/v1/agent/enrol"}

    def do_POST(self) -> None:
        office = self.server
        assert isinstance(office, Office)
        assert self.path in self.paths
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("challenges"):
            challenge = uuid4().hex
            office.challenges.add(challenge)
            expires = (datetime.now(UTC) + timedelta(minutes=5)).isoformat()
            self._answer(201, {"challenge": challenge, "expires_at": expires})
            return
        wanted = EnrolmentRequest.model_validate_json(body)
        office.challenges.remove(wanted.challenge)
        message = signed_message(
            wanted.challenge, wanted.token or str(wanted.registration_id), wanted.node_id
        )
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(wanted.public_key))
        key.verify(base64.b64decode(wanted.signature), message)
        office.requests.append(wanted)
        self._answer(*office.answers[min(len(office.requests), len(office.answers)) - 1])

    def _answer(self, status: int, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        pass


@pytest.fixture
def office() -> Iterator[Office]:
    with Office() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def settings(office: Office, tmp_path: Path) -> AgentSettings:
    return AgentSettings(server_url=office.url, state_directory=tmp_path / "agent", node_id="r1")


class Pauses:
    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


ENROLLED = (200, {"state": "enrolled", "node_id": "r1", "agent_token": "rlg_made-up"})


class TestEnrol:
    async def test_proves_the_key_and_keeps_the_token_private(
        self, office: Office, settings: AgentSettings
    ) -> None:
        office.answers = [ENROLLED]
        enrolled = await enrol(settings, "rle_one-shot")
        directory = settings.state_directory
        assert (enrolled.node_id, enrolled.agent_token) == ("r1", "rlg_made-up")
        assert "rlg" not in repr(enrolled)
        assert settings.token_path.read_text() == "rlg_made-up\n"
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
        assert {path.name for path in directory.iterdir()} == {"identity.key", "agent-token", "node-id"}
        assert {stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()} == {0o600}

    async def test_waits_for_approval_with_one_identity(
        self, office: Office, settings: AgentSettings
    ) -> None:
        registration = str(uuid4())
        pending = {"state": "pending", "registration_id": registration, "retry_after_seconds": 7}
        office.answers = [(202, pending), (202, pending), (503, {}), ENROLLED]
        pauses = Pauses()
        await enrol(settings, "rle_one-shot", sleep=pauses)
        assert pauses.taken == [7, 7, 7]
        assert [str(each.registration_id) for each in office.requests[1:]] == [registration] * 3
        assert [each.token for each in office.requests] == ["rle_one-shot", None, None, None]
        assert len({each.public_key for each in office.requests}) == 1
        assert not (settings.state_directory / "registration").exists()

    async def test_goes_on_with_a_registration_after_a_restart(
        self, office: Office, settings: AgentSettings
    ) -> None:
        registration = uuid4()
        office.answers = [ENROLLED]
        state.prepare(settings.state_directory)
        state.keep_registration(settings.state_directory, registration)
        await enrol(settings)
        assert [each.registration_id for each in office.requests] == [registration]

    async def test_tells_a_rejection_and_forgets_the_registration(
        self, office: Office, settings: AgentSettings
    ) -> None:
        office.answers = [(200, {"state": "rejected"})]
        with pytest.raises(EnrolmentRefused, match="rejected"):
            await enrol(settings, "rle_one-shot")
        assert not settings.token_path.exists()

    async def test_tells_the_servers_own_words(self, office: Office, settings: AgentSettings) -> None:
        office.answers = [(403, {"detail": "This token has been used."})]
        with pytest.raises(EnrolmentRefused, match=r"This token has been used\."):
            await enrol(settings, "rle_one-shot")

    @pytest.mark.parametrize("answer", [(500, {}), (429, {}), (200, {"something": "else"})])
    async def test_tells_a_server_that_cannot_answer_now(
        self, office: Office, settings: AgentSettings, answer: tuple[int, dict[str, Any]]
    ) -> None:
        office.answers = [answer]
        with pytest.raises(ServerUnreachable):
            await enrol(settings, "rle_one-shot")

    async def test_tells_a_server_that_is_not_there(self, tmp_path: Path) -> None:
        settings = AgentSettings(server_url="http://127.0.0.1:1", state_directory=tmp_path)
        with pytest.raises(ServerUnreachable):
            await enrol(settings, "rle_one-shot")

    async def test_needs_a_token(self, settings: AgentSettings) -> None:
        with pytest.raises(EnrolmentRefused, match="one-shot token"):
            await enrol(settings)

    async def test_refuses_a_damaged_key_instead_of_replacing_it(self, settings: AgentSettings) -> None:
        state.prepare(settings.state_directory)
        state.write_private(settings.state_directory / "identity.key", "damaged")
        with pytest.raises(StateDirectoryUnusable, match="no usable key"):
            await enrol(settings, "rle_one-shot")
        assert (settings.state_directory / "identity.key").read_text() == "damaged"

    async def test_the_program_takes_the_token_from_standard_input(
        self, office: Office, settings: AgentSettings
    ) -> None:
        office.answers = [ENROLLED]
        own = {
            "ROUTELOOM_AGENT_SERVER_URL": settings.server_url,
            "ROUTELOOM_AGENT_STATE_DIRECTORY": str(settings.state_directory),
        }
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "node_agent", "enrol"),
            env={**os.environ, **own},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate(b"rle_one-shot\n")
        assert (process.returncode, output) == (0, b"Enrolled as r1.\n")
        assert b"rlg_made-up" not in errors
        assert office.requests[0].token == "rle_one-shot"
        assert "ping" in office.requests[0].capabilities.tools

    async def test_sends_no_secret_to_the_log(
        self, office: Office, settings: AgentSettings, capsys: pytest.CaptureFixture[str]
    ) -> None:
        token = mint("rle").text
        office.answers = [(200, {**ENROLLED[1], "agent_token": mint("rlg").text})]
        enrolled = await enrol(settings, token)
        output = "".join(capsys.readouterr())
        assert token not in output
        assert enrolled.agent_token not in output
