"""How a tier is reached; a service's settings nest one of these for each tier."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from shared.cache.errors import TierMisconfigured

_PLAIN_SCHEMES = frozenset({"redis", "valkey"})
_TLS_SCHEMES = frozenset({"rediss", "valkeys"})
_DEFAULT_PORT = 6379
_HIGHEST_PORT = 65_535
_SHAPE = "the URL of a tier is scheme://user:password@host:port/database"


@dataclass(frozen=True, slots=True)
class Address:
    """A URL taken apart. Nothing of it is shown."""

    host: str
    port: int
    tls: bool
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    database: int | None = None


class SentinelSettings(BaseModel):
    """Ask these sentinels which server is the master; the tier's URL then gives credentials and TLS only."""

    model_config = ConfigDict(extra="forbid")

    addresses: list[str] = Field(min_length=1, description="host:port of each sentinel")
    service: str = Field(min_length=1, description="name of the master set")
    username: str | None = None
    password: SecretStr | None = None

    def endpoints(self) -> list[tuple[str, int]]:
        """The sentinels' hosts and ports."""
        try:
            parsed = [urlsplit(f"//{address}") for address in self.addresses]
            return [(part.hostname or "", part.port or 26_379) for part in parsed]
        except ValueError:
            raise TierMisconfigured("the address of a sentinel is host:port") from None


class TierSettings(BaseModel):
    """One tier. Without a URL the tier is not configured and its fallbacks are the path."""

    model_config = ConfigDict(extra="forbid")

    url: SecretStr | None = Field(
        default=None, description="redis://, rediss://, valkey:// or valkeys://; empty: not configured"
    )
    pool_size: int = Field(default=20, ge=1, le=1000, description="connections of one process")
    deadline: timedelta | None = Field(
        default=None,
        gt=timedelta(0),
        description="every call ends by then; 250 ms for kv and 100 ms for cache",
    )
    heartbeat: timedelta = Field(
        default=timedelta(seconds=5), description="silence after which a subscriber asks"
    )
    heartbeat_reply_within: timedelta = Field(
        default=timedelta(seconds=1), description="a subscriber without an answer by then reconnects"
    )
    namespace: str = Field(
        default="", pattern=r"^[A-Za-z0-9._-]*$", description="prefix of every key and channel"
    )
    tls_ca: Path | None = Field(default=None, description="certificate authority of the server")
    tls_certificate: Path | None = Field(default=None, description="our certificate for the server")
    tls_key: Path | None = Field(default=None, description="the key of our certificate")
    sentinel: SentinelSettings | None = None

    @field_validator("url")
    @classmethod
    def _no_url_is_none(cls, url: SecretStr | None) -> SecretStr | None:
        return url if url is not None and url.get_secret_value() else None

    def address(self) -> Address:
        """The URL, taken apart.

        Checked here and not while the settings are validated: a validation error repeats what it was given.
        """
        if self.url is None:
            raise TierMisconfigured("the tier has no URL")
        parts = _split(self.url.get_secret_value())
        if parts.scheme not in _PLAIN_SCHEMES | _TLS_SCHEMES:
            raise TierMisconfigured(
                "the URL of a tier begins with redis://, rediss://, valkey:// or valkeys://"
            )
        database = parts.path.strip("/")
        if not parts.hostname or (database and not database.isdecimal()) or parts.query:
            raise TierMisconfigured(_SHAPE)
        return Address(
            host=parts.hostname,
            port=_port(parts.netloc),
            tls=parts.scheme in _TLS_SCHEMES,
            username=unquote(parts.username) if parts.username else None,
            password=unquote(parts.password) if parts.password else None,
            database=int(database) if database else None,
        )


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        # What it says repeats a part of the URL.
        pass
    raise TierMisconfigured(_SHAPE)


def _port(netloc: str) -> int:
    # urlsplit names the offending text in its error; that text can be part of a password.
    text = netloc.rpartition("@")[2].rpartition("]")[2].rpartition(":")[2]
    if ":" not in netloc.rpartition("@")[2].rpartition("]")[2] or not text:
        return _DEFAULT_PORT
    if not text.isdecimal() or not 0 < int(text) <= _HIGHEST_PORT:
        raise TierMisconfigured("the port of a tier's URL is a number up to 65535")
    return int(text)
