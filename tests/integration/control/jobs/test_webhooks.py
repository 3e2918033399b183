"""Only the address that was judged is called, under the name that it was given."""

import asyncio
import datetime as dt
import ssl
from collections.abc import AsyncIterator, Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from control_server.alerts.errors import DeliveryFailed, ReceiverRefused
from control_server.alerts.service import Webhooks, webhooks
from control_server.settings import AlertSettings
from shared.kernel.clock import utc_now
from shared.kernel.ids import new_uuid
from shared.kernel.targets import Address
from tests.integration.control.jobs.receiver import Receiver

NAME = "hooks.example"
LOOPBACK = AlertSettings(allow_loopback=True, seconds=0.5)


def resolving(*addresses: str) -> "webhooks.Resolver":
    async def resolve(_host: str, _port: int) -> Sequence[Address]:
        return [ip_address(text) for text in addresses]

    return resolve


def certificate(directory: Path, name: str) -> tuple[Path, Path]:
    """A certificate that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    files = directory / "tls.pem", directory / "tls.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    files[1].write_bytes(key.private_bytes(encoding, form, serialization.NoEncryption()))
    return files


@pytest.fixture
async def secure(receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[int]:
    """The port of a receiver that proves to be `hooks.example`."""
    files = certificate(tmp_path, NAME)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*files)
    monkeypatch.setattr(webhooks, "_authorities", lambda: ssl.create_default_context(cafile=files[0]))
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=context)
    yield server.sockets[0].getsockname()[1]
    server.close()


class TestSend:
    async def test_the_certificate_is_checked_for_the_name(self, secure: int, receiver: Receiver) -> None:
        sender = Webhooks(LOOPBACK, utc_now, resolving("127.0.0.1"))
        await sender.send(f"https://{NAME}:{secure}/hook", "secret", new_uuid(), "{}")
        assert receiver.received[0].headers["host"] == f"{NAME}:{secure}"

    async def test_another_name_is_refused(self, secure: int, receiver: Receiver) -> None:
        sender = Webhooks(LOOPBACK, utc_now, resolving("127.0.0.1"))
        with pytest.raises(DeliveryFailed, match="cannot be reached"):
            await sender.send(f"https://other.example:{secure}/hook", "secret", new_uuid(), "{}")
        assert receiver.received == []

    async def test_a_receiver_that_does_not_answer_is_left(self, receiver: Receiver) -> None:
        receiver.open.clear()
        with pytest.raises(DeliveryFailed, match="No answer within"):
            await Webhooks(LOOPBACK, utc_now).send(receiver.url, "secret", new_uuid(), "{}")

    async def test_a_name_that_leads_inside_is_refused_when_it_does(self, receiver: Receiver) -> None:
        for addresses in (("127.0.0.1",), ("203.0.113.7", "10.0.0.1"), ("fd00::1",), ()):
            sender = Webhooks(AlertSettings(), utc_now, resolving(*addresses))
            with pytest.raises(ReceiverRefused, match="may not be called"):
                await sender.send(f"http://{NAME}:{receiver.port}/", "secret", new_uuid(), "{}")
        assert receiver.received == []

    async def test_an_address_of_version_6_is_called(self, receiver: Receiver) -> None:
        server = await asyncio.start_server(receiver.serve, "::1", 0)
        port = server.sockets[0].getsockname()[1]
        await Webhooks(LOOPBACK, utc_now).send(f"http://[::1]:{port}/", "secret", new_uuid(), "{}")
        server.close()
        assert receiver.received[0].headers["host"] == f"[::1]:{port}"
