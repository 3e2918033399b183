"""Certificates made on the spot: an authority, a server on loopback, a client."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    directory: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def file(self) -> Path:
        return self.directory / "ca.pem"

    def issue(self, name: str, address: str = "127.0.0.1") -> tuple[Path, Path]:
        """A certificate for an address, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternative = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        certificate = (
            _builder(name, self.certificate.subject, key).add_extension(alternative, critical=False)
        ).sign(self.key, hashes.SHA256())
        return _written(self.directory, name, certificate, key)


def new_authority(directory: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ca")])
    extension = x509.BasicConstraints(ca=True, path_length=None)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder("ca", subject, key)
        .add_extension(extension, critical=True)
        .add_extension(usage, critical=True)
    ).sign(key, hashes.SHA256())
    _written(directory, "ca", certificate, key)
    return Authority(directory, key, certificate)


def _builder(name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
    )


def _written(
    directory: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey
) -> tuple[Path, Path]:
    files = directory / f"{name}.pem", directory / f"{name}.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files
