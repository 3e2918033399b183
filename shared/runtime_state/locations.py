"""Where the state is kept, read from one URL. No message repeats the URL: it may hold a password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

_INSTANCE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9._:%-]+", re.ASCII)
_DATABASE = re.compile(r"(?:/[0-9]{0,4})?", re.ASCII)
_DEFAULT_PORT = 6379

#: For every call to a server. A preview of 16 MiB crosses a gigabit network in a seventh of this.
DEADLINE = timedelta(seconds=1)


class RuntimeStateConfigurationError(Exception):
    """The process must not start like this; the text says what to change."""


@dataclass(frozen=True, slots=True)
class MemoryLocation:
    """`memory://<name>`. The name tells instances apart in logs and shares nothing."""

    name: str


@dataclass(frozen=True, slots=True)
class ServerLocation:
    """`redis://` or, encrypted, `rediss://`."""

    host: str
    port: int = _DEFAULT_PORT
    database: int = 0
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    encrypted: bool = False
    #: PEM file of the authorities that may vouch for the server; by default the system's.
    authorities: Path | None = None


Location = MemoryLocation | ServerLocation


def parse_location(url: str, authorities: Path | None = None) -> Location:
    """Read the URL, or raise `RuntimeStateConfigurationError`."""
    if url != url.strip() or not url.isprintable():
        raise RuntimeStateConfigurationError(
            "REDIS_URL holds spaces or control characters around or inside it."
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise RuntimeStateConfigurationError("REDIS_URL has a host or a port that cannot be read.") from None
    if parts.query or parts.fragment or url.endswith(("?", "#")):
        raise RuntimeStateConfigurationError("REDIS_URL takes no options after ? or #.")
    match parts.scheme:
        case "memory":
            return _memory(parts)
        case "redis" | "rediss":
            return _server(parts, port, authorities)
        case _:
            raise RuntimeStateConfigurationError(
                "REDIS_URL must begin with redis://, rediss:// or memory://."
            )


def check_prefix(prefix: str) -> None:
    """Keys of ours must be recognisable, and braces must not spread one batch over slots of a cluster."""
    if not prefix or not prefix.isprintable() or " " in prefix:
        raise RuntimeStateConfigurationError("REDIS_KEY_PREFIX must be a visible text without spaces.")
    opened, braces, rest = prefix.partition("{")
    tag, closed, after = rest.partition("}")
    if "}" in opened or (braces and not (tag and closed)) or "{" in tag + after or "}" in after:
        raise RuntimeStateConfigurationError("Braces in REDIS_KEY_PREFIX must be one pair around some text.")


def _memory(parts: SplitResult) -> MemoryLocation:
    if not parts.netloc and parts.path.strip("/"):
        raise RuntimeStateConfigurationError(
            "The name in REDIS_URL stands directly after memory://, for example memory://lite."
        )
    if not parts.netloc:
        raise RuntimeStateConfigurationError(
            "memory:// in REDIS_URL needs a name, for example memory://lite."
        )
    if parts.path or _INSTANCE_NAME.fullmatch(parts.netloc) is None:
        raise RuntimeStateConfigurationError(
            "memory:// in REDIS_URL takes one name of lower-case letters, digits and hyphens"
            " and nothing else, for example memory://lite."
        )
    return MemoryLocation(parts.netloc)


def _server(parts: SplitResult, port: int | None, authorities: Path | None) -> ServerLocation:
    host = parts.hostname
    if not host or _HOST.fullmatch(host) is None:
        raise RuntimeStateConfigurationError(
            "REDIS_URL names no host, for example redis://valkey-state:6379/0."
        )
    if port == 0:
        raise RuntimeStateConfigurationError("REDIS_URL has a host or a port that cannot be read.")
    if _DATABASE.fullmatch(parts.path) is None:
        raise RuntimeStateConfigurationError(
            "After the host REDIS_URL takes one database number, for example /0."
        )
    return ServerLocation(
        host=host,
        port=port or _DEFAULT_PORT,
        database=int(parts.path[1:] or 0),
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        encrypted=parts.scheme == "rediss",
        authorities=authorities,
    )
