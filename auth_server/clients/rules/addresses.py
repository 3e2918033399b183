"""Addresses that clients register and name: which are acceptable, and when two are the same.

Policy for loopback (RFC 8252, section 7.3): a native client that registered `http://127.0.0.1/…` or
`http://[::1]/…` may name any port. `localhost` is a name, which something else may answer for: it is
accepted in registrations for development, and compared like every other address, port included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, urlsplit

_LOOPBACK = frozenset({"127.0.0.1", "::1"})
_PLAIN_HTTP = _LOOPBACK | {"localhost"}
#: A scheme of the client's own (RFC 8252, section 7.1) is a reversed domain name.
_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+", re.ASCII)
_VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII)
_LOOPBACK_FORM = re.compile(r"http://(127\.0\.0\.1|\[::1\])(?::([0-9]{1,5}))?(/[^#\\]*)?", re.ASCII)
_MOST_CHARACTERS = 2000


def _split(address: str) -> SplitResult | None:
    if not _VISIBLE.fullmatch(address) or "\\" in address or len(address) > _MOST_CHARACTERS:
        return None
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - raises for what is no port
    except ValueError:
        return None
    return parts


def is_acceptable(address: str, *, native: bool) -> bool:
    """Whether a client may register it to send people to: absolute, no fragment, no user, safe scheme."""
    parts = _split(address)
    if parts is None or "#" in address:
        return False
    if parts.scheme in {"http", "https"}:
        return _is_web(parts)
    return (
        native and bool(_PRIVATE_SCHEME.fullmatch(parts.scheme)) and address.startswith(f"{parts.scheme}:/")
    )


def is_acceptable_for_us(address: str) -> bool:
    """Whether a client may register it for us to call: like a web address, and without a query."""
    parts = _split(address)
    return parts is not None and "#" not in address and _is_web(parts) and not parts.query


def is_origin(text: str) -> bool:
    """Whether it is scheme, host and port of a web page as browsers send them."""
    parts = _split(text)
    return parts is not None and _is_web(parts) and text == f"{parts.scheme}://{parts.netloc}"


def _is_web(parts: SplitResult) -> bool:
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or parts.hostname in _PLAIN_HTTP


def matches(registered: str, named: str, *, native: bool) -> bool:
    """Whether the named address is the registered one: the same text, but for a loopback's port."""
    if registered == named:
        return True
    if not native:
        return False
    ours, theirs = _LOOPBACK_FORM.fullmatch(registered), _LOOPBACK_FORM.fullmatch(named)
    if ours is None or theirs is None or int(theirs[2] or 0) > 65535:  # noqa: PLR2004 - the last port
        return False
    return ours[1] == theirs[1] and ours[3] == theirs[3]


def with_parameters(address: str, added: Mapping[str, str]) -> str:
    """The address with these appended to its query; what it had stays as it was registered."""
    if not added:
        return address
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in added.items())
    return f"{address}{'&' if '?' in address else '?'}{query}"


def form_target(address: str) -> str:
    """The address's origin as a source of a content security policy, which has no word for `[::1]`."""
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or ":" in (parts.hostname or ""):
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc}"
