"""`rediss://` on real servers: the named authority is trusted, and nobody else."""

import shutil
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from shared.runtime_state import RedisRuntimeClient, RuntimeStateUnavailable
from shared.runtime_state.creation import open_client
from shared.runtime_state.locations import parse_location
from shared.testing.servers.ports import free_loopback_port
from tests.contracts.runtime_state.subjects import DATABASE, eventually, random_prefix


def certify(directory: Path, name: str) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key beside it."""
    directory.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    (directory / "server.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    path = directory / "server.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture(params=["valkey-server", "redis-server"])
def encrypted_port(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """A server that listens for TLS only, with the certificate in `tmp_path`."""
    certificate = certify(tmp_path, "state")
    program = shutil.which(request.param)
    assert program is not None, f"{request.param} is not installed"
    port = free_loopback_port()
    command = [program, "--port", "0", "--bind", "127.0.0.1", "--tls-port", str(port), "--save", ""]
    command += ["--tls-cert-file", str(certificate), "--tls-key-file", str(tmp_path / "server.key")]
    command += ["--tls-auth-clients", "no", "--dir", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.kill()
        process.wait(30)


def client_of(port: int, authorities: Path) -> RedisRuntimeClient:
    location = parse_location(f"rediss://127.0.0.1:{port}/{DATABASE}", authorities)
    return open_client(location, prefix=random_prefix())


async def answers(client: RedisRuntimeClient) -> bool:
    try:
        return await client.ping()
    except RuntimeStateUnavailable:
        return False


async def test_a_server_vouched_for_by_the_named_authority_serves(
    encrypted_port: int, tmp_path: Path
) -> None:
    client = client_of(encrypted_port, tmp_path / "server.pem")
    await eventually(lambda: answers(client))
    assert await client.set("k", "v", ex=60)
    assert await client.get("k") == b"v"
    await client.aclose()


async def test_a_stranger_s_certificate_is_refused(encrypted_port: int, tmp_path: Path) -> None:
    trusted = client_of(encrypted_port, tmp_path / "server.pem")
    await eventually(lambda: answers(trusted))
    await trusted.aclose()
    client = client_of(encrypted_port, certify(tmp_path / "elsewhere", "other"))
    with pytest.raises(RuntimeStateUnavailable):
        await client.ping()
    await client.aclose()
