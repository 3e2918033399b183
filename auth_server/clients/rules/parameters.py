"""Parameters of OAuth requests: a repeated one is an error, an empty one is absent (RFC 6749, 3.1)."""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote_plus

from auth_server.clients.errors import InvalidClient, InvalidRequest
from auth_server.clients.rules.assertions import TYPE, subject_of

FORM = "application/x-www-form-urlencoded"
_MOST_PARAMETERS = 64
#: What a refusal repeats of names that others made up.
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_MOST_NAMED = 5
_UNREADABLE = "The parameters are no UTF-8 form without U+0000."
_TOO_MANY = f"At most {_MOST_PARAMETERS} parameters are read."


@dataclass(frozen=True, slots=True)
class Parameters:
    """What was sent, by name."""

    values: dict[str, str]
    repeated: frozenset[str] = frozenset()

    def get(self, name: str) -> str | None:
        """The value; None for what is absent, empty or repeated."""
        return None if name in self.repeated else self.values.get(name) or None

    def require(self, name: str) -> str:
        """The value. Raises InvalidRequest."""
        value = self.get(name)
        if value is None:
            raise InvalidRequest(f"The parameter {name} is missing.")
        return value

    def refuse_repetition(self) -> None:
        """Raises InvalidRequest when a parameter came twice."""
        if self.repeated:
            raise InvalidRequest(f"A parameter is repeated: {self.named_twice()}. Send each one once.")

    def named_twice(self) -> str:
        """The repeated parameters, as far as their names can be repeated to anybody."""
        plain = sorted(name for name in self.repeated if _PLAIN_NAME.fullmatch(name))
        return ", ".join(plain[:_MOST_NAMED]) or "one with an unusual name"


def parse_parameters(text: str) -> Parameters:
    """Read a query or a form. Raises InvalidRequest for what is not UTF-8 or no text at all."""
    if text.count("&") >= _MOST_PARAMETERS:
        raise InvalidRequest(_TOO_MANY)
    halves = (field.partition("=") for field in text.split("&") if field)
    try:
        return collect([(_decoded(name), _decoded(value)) for name, _, value in halves])
    except UnicodeDecodeError:
        raise InvalidRequest(_UNREADABLE) from None


def _decoded(half: str) -> str:
    """What a name or a value stands for; most hold nothing that is encoded."""
    return unquote_plus(half, errors="strict") if "%" in half or "+" in half else half


def collect(pairs: Sequence[tuple[str, str]]) -> Parameters:
    """Parameters that were read already. Raises InvalidRequest for what a database cannot keep."""
    for name, value in pairs:
        if "\x00" in name or "\x00" in value:
            raise InvalidRequest(_UNREADABLE)
    values = dict(pairs)
    if len(values) == len(pairs):
        return Parameters(values)
    counts = Counter(name for name, _ in pairs)
    return Parameters(values, frozenset(name for name, count in counts.items() if count > 1))


@dataclass(frozen=True, slots=True)
class Credentials:
    """How a client says who it is."""

    client_id: str
    secret: str | None = None
    assertion: str | None = None


def read_credentials(authorization: str | None, form: Parameters) -> Credentials:
    """Basic, form, assertion or none (RFC 6749, section 2.3.1; RFC 7521, section 4.2).

    Raises InvalidRequest for two ways at once, InvalidClient for nobody.
    """
    if form.get("client_assertion") is not None or form.get("client_assertion_type") is not None:
        return _asserted(authorization, form)
    if authorization is None:
        client_id = form.get("client_id")
        if client_id is None:
            raise InvalidClient(
                "The parameter client_id is missing, and there is no HTTP Basic in its place."
            )
        return Credentials(client_id, form.get("client_secret"))
    found = _basic(authorization)
    if form.get("client_secret") is not None:
        raise InvalidRequest("The client authenticates in two ways at once.")
    if form.get("client_id") not in {None, found.client_id}:
        raise InvalidRequest("The client is named in two ways that differ.")
    return found


def _asserted(authorization: str | None, form: Parameters) -> Credentials:
    if authorization is not None or form.get("client_secret") is not None:
        raise InvalidRequest("The client authenticates in two ways at once.")
    assertion = form.get("client_assertion")
    if assertion is None or form.get("client_assertion_type") != TYPE:
        raise InvalidClient
    client_id = form.get("client_id") or subject_of(assertion)
    if client_id is None or not client_id.isprintable():
        raise InvalidClient
    return Credentials(client_id, assertion=assertion)


def _basic(header: str) -> Credentials:
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        raise InvalidClient
    try:
        name, colon, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        raise InvalidClient from None
    if not colon:
        raise InvalidClient
    # Both halves are form-encoded first (RFC 6749, appendix B).
    found = Credentials(unquote_plus(name), unquote_plus(secret))
    if not found.client_id.isprintable():
        raise InvalidClient
    return found
