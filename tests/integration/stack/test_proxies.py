"""Event streams and agents through the shipped Caddy and nginx."""

import asyncio
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from shared.protocol.frames import ProbeStart
from shared.testing.fake_agent import FakeAgent
from shared.testing.servers.process import find_program
from tests.integration.control.probes.stage import Stage
from tests.integration.stack.proxies import CUT_SECONDS, TEMPORARY, caddy, nginx
from tests.stack.engine import COMPOSE

pytestmark = pytest.mark.processes

Proxy = Callable[[int, Path], AbstractContextManager[int]]
PROXIES = pytest.mark.parametrize("proxy", [caddy, nginx], ids=["caddy", "nginx"])
#: So long nobody says a word.
SILENT_SECONDS = 180


@PROXIES
async def test_a_line_is_seen_while_its_probe_runs(stage: Stage, proxy: Proxy, tmp_path: Path) -> None:
    """What a proxy gathers would come with the end."""
    with proxy(stage.port, tmp_path) as port:
        async with FakeAgent(f"http://localhost:{port}", stage.tokens["alpha"]) as agent:
            await agent.hello()
            probe_id = await stage.create("alpha")
            ident = (await agent.expect(ProbeStart)).probe_id
            await agent.accept(ident)
            async with stage.reader(probe_id, port=port) as reader:
                await agent.output(ident, "the first line")
                (seen,) = await reader.outputs(1)
                assert seen.data["text"] == "the first line"
                assert (await stage.read(probe_id))["finished_at"] is None
                await agent.done(ident)
                assert (await reader.rest())[-1].name == "done"


@PROXIES
async def test_a_stream_is_neither_packed_nor_kept(stage: Stage, proxy: Proxy, tmp_path: Path) -> None:
    with proxy(stage.port, tmp_path) as port:
        async with stage.agent() as agent:
            probe_id = await stage.create("alpha")
            ident = (await agent.expect(ProbeStart)).probe_id
            headers = stage.authorization("operator") | {"Accept-Encoding": "gzip, zstd, br"}
            path = f"http://localhost:{port}/api/v1/probes/{probe_id}/stream"
            async with stage.client.stream("GET", path, headers=headers) as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                assert "content-encoding" not in answer.headers
            await agent.accept(ident)
            await agent.done(ident)


@PROXIES
async def test_what_is_for_the_inside_stays_there(stage: Stage, proxy: Proxy, tmp_path: Path) -> None:
    with proxy(stage.port, tmp_path) as port:
        for path in ("/metrics", "/healthz", "/auth/metrics", "/registry/healthz", "/cap/", "/cap/dashboard"):
            answer = await stage.client.get(
                f"http://localhost:{port}{path}", headers=stage.authorization("admin")
            )
            assert answer.status_code == 404, path
        for path in ("/livez", "/readyz"):
            assert (await stage.client.get(f"http://localhost:{port}{path}")).status_code == 200, path


@PROXIES
async def test_a_body_past_every_use_is_refused(stage: Stage, proxy: Proxy, tmp_path: Path) -> None:
    with proxy(stage.port, tmp_path) as port:
        path = f"http://localhost:{port}/api/v1/probes"
        try:
            answer = await stage.client.post(path, content=b"x" * 21_000_000)
        except httpx2.TransportError:
            return  # refused before all of it was sent, and the answer was lost with the connection
        assert answer.status_code == 413


def test_the_shipped_file_of_nginx_is_sound(tmp_path: Path) -> None:
    """As it is, with a certificate and names that can be looked up."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "loom.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (tmp_path / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(key.private_bytes(*plain))
    text = (COMPOSE / "nginx.conf").read_text().replace(TEMPORARY, f"{tmp_path}/")
    text = text.replace("/etc/nginx/tls/", f"{tmp_path}/")
    for service in ("control", "auth", "registry"):
        text = text.replace(f"server {service}:", "server 127.0.0.1:")
    (tmp_path / "nginx.conf").write_text(text)
    command = [find_program("nginx", "nginx-light"), "-t", "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "[warn]" not in done.stderr, done.stderr


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("proxy", [caddy, nginx], ids=["caddy", "nginx"])
async def test_silence_of_three_minutes_cuts_nothing(stage: Stage, proxy: Proxy, tmp_path: Path) -> None:
    """Comments keep the stream, pings the agent's link, where 30 s of silence are cut."""
    chosen = (
        nginx(stage.port, tmp_path, cut_seconds=CUT_SECONDS)
        if proxy is nginx
        else proxy(stage.port, tmp_path)
    )
    with chosen as port:
        async with FakeAgent(f"http://localhost:{port}", stage.tokens["alpha"]) as agent:
            await agent.hello()
            probe_id = await stage.create("alpha")
            ident = (await agent.expect(ProbeStart)).probe_id
            await agent.accept(ident)
            async with stage.reader(probe_id, port=port) as reader:
                await agent.output(ident, "before")
                await reader.outputs(1)
                await _quiet(agent)
                await agent.output(ident, "after")
                (seen,) = await reader.outputs(1)
                assert seen.data["text"] == "after"
                await agent.done(ident)
            assert agent.close_code is None


async def _quiet(agent: FakeAgent) -> None:
    """Nothing but what keeps a link alive; a cut link shows at once."""
    for _ in range(SILENT_SECONDS):
        assert agent.close_code is None
        await asyncio.sleep(1)
