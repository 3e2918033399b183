"""A proxy that ends TLS in front of a plain server, with an authority of its own made at run time."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from collections.abc import Iterator

_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_OF_ONE_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "content-encoding"}
#: Who the proxy says is asking.
CLIENT_ADDRESS = "203.0.113.9"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate for localhost, its key, and the authority that vouches for it."""

    certificate: Path
    key: Path
    authority: Path


def make_certificate(directory: Path) -> Certificate:
    """Fresh files, good for a day."""
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Authority of a test")])
    root = _builder(authority, authority, authority_key.public_key()).add_extension(
        x509.BasicConstraints(ca=True, path_length=0), critical=True
    )
    identifier = x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key())
    root = root.add_extension(identifier, critical=False)
    host = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    leaf = _builder(host, authority, key.public_key()).add_extension(
        x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False
    )
    leaf = leaf.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False
    )
    made = Certificate(directory / "localhost.pem", directory / "localhost.key", directory / "authority.pem")
    made.authority.write_bytes(_pem(root.sign(authority_key, hashes.SHA256())))
    made.certificate.write_bytes(_pem(leaf.sign(authority_key, hashes.SHA256())))
    made.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return made


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    at = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(at - timedelta(hours=1))
        .not_valid_after(at + timedelta(days=1))
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


@contextmanager
def tls_proxy(port: int, target: str, certificate: Certificate) -> Iterator[None]:
    """Serve https on a loopback port and pass everything on to `target`, as a reverse proxy does."""
    config = uvicorn.Config(
        _application(target),
        host="127.0.0.1",
        port=port,
        log_config=None,
        access_log=False,
        ssl_certfile=certificate.certificate,
        ssl_keyfile=certificate.key,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


def _application(target: str) -> Starlette:
    async def pass_on(request: Request) -> Response:
        headers = {name: value for name, value in request.headers.items() if name not in _OF_ONE_HOP}
        headers |= {"x-forwarded-for": CLIENT_ADDRESS, "x-forwarded-proto": "https"}
        query = f"?{request.url.query}" if request.url.query else ""
        address = f"{target}{request.scope['raw_path'].decode()}{query}"
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
            answer = await client.request(
                request.method, address, headers=headers, content=await request.body()
            )
        passed = Response(answer.content, status_code=answer.status_code)
        passed.raw_headers += [
            (name.lower(), value)
            for name, value in answer.headers.raw
            if name.lower().decode() not in _OF_ONE_HOP
        ]
        return passed

    return Starlette(routes=[Route("/{path:path}", pass_on, methods=_METHODS)])
