import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from shared.cache import Message, Reason, Tier, TierUnavailable
from shared.testing.servers import KeyValueServer
from tests.contracts.cache.authorities import Authority, new_authority
from tests.contracts.cache.subjects import opened

SCHEMES = {Tier.KV: "valkeys", Tier.CACHE: "rediss"}


class TlsServer(KeyValueServer):
    """The same server with its TLS port beside the plain one, which the tests' own tools use."""

    tls_port = 0
    authority: Authority

    def command(self) -> list[str]:
        certificate, key = self.directory / "server.pem", self.directory / "server.key"
        return [
            *super().command(),
            *("--tls-port", str(self.tls_port), "--tls-auth-clients", "yes"),
            *("--tls-cert-file", str(certificate), "--tls-key-file", str(key)),
            *("--tls-ca-cert-file", str(self.authority.file)),
        ]


@pytest.fixture
async def tls_server(tier: Tier, tmp_path: Path) -> AsyncIterator[TlsServer]:
    from shared.testing.servers.key_value import REDIS, VALKEY
    from shared.testing.servers.ports import free_loopback_port

    server = TlsServer(VALKEY if tier is Tier.KV else REDIS, tmp_path, None)
    server.authority = new_authority(tmp_path)
    server.authority.issue("server")
    server.tls_port = free_loopback_port()
    server.start_first()
    try:
        yield server
    finally:
        server.kill()


async def test_speaks_tls_with_a_client_certificate(tier: Tier, tls_server: TlsServer) -> None:
    certificate, key = tls_server.authority.issue("client")
    url = f"{SCHEMES[tier]}://127.0.0.1:{tls_server.tls_port}"
    trust = {"tls_ca": tls_server.authority.file, "tls_certificate": certificate, "tls_key": key}
    async with opened(url, tier, **trust) as subject:
        value, channel = subject.families.values.key(id=1), subject.families.channels.key(id=1)
        await subject.cache.set_json(value, "x" * 200_000, ttl_seconds=60)
        assert await subject.cache.get_json(value) == "x" * 200_000
        async with subject.cache.subscribe(channel) as subscription:
            await subject.cache.publish(channel, 1)
            assert await anext(subscription) == Message(1)


@pytest.mark.parametrize("mistake", ["no certificate of ours", "another authority"])
async def test_a_side_that_is_not_trusted_is_refused(
    tier: Tier, tls_server: TlsServer, tmp_path_factory: pytest.TempPathFactory, mistake: str
) -> None:
    certificate, key = tls_server.authority.issue("client")
    url = f"{SCHEMES[tier]}://127.0.0.1:{tls_server.tls_port}"
    trust = {"tls_ca": tls_server.authority.file, "tls_certificate": certificate, "tls_key": key}
    if mistake == "no certificate of ours":
        trust = {"tls_ca": tls_server.authority.file}
    else:
        trust["tls_ca"] = new_authority(tmp_path_factory.mktemp("stranger")).file
    async with opened(url, tier, **trust) as subject:
        with pytest.raises(TierUnavailable) as raised:
            await subject.cache.get_json(subject.families.values.key(id=1))
    assert raised.value.reason is Reason.CONNECTION


async def test_the_name_on_the_certificate_is_checked(tier: Tier, tls_server: TlsServer) -> None:
    certificate, key = tls_server.authority.issue("client")
    url = f"{SCHEMES[tier]}://localhost:{tls_server.tls_port}"
    trust = {"tls_ca": tls_server.authority.file, "tls_certificate": certificate, "tls_key": key}
    async with opened(url, tier, **trust) as subject:
        with pytest.raises(TierUnavailable):
            await subject.cache.get_json(subject.families.values.key(id=1))
    assert ssl.HAS_TLSv1_3
