"""Devices by the user agent, where a sign-in may lead, and how fresh a passkey must be."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from auth_server.sessions.schemas import SignedIn

#: A sensitive act needs a passkey that was used at most so long ago.
STEP_UP_LIFE = timedelta(minutes=5)

#: Where a sign-in leads that was not on the way to anywhere.
FIRST_PAGE = "/auth/account"
SIGN_IN_PAGE = "/auth/sign-in"
#: Characters of where a sign-in leads: a request for a code whose state is long and percent-encoded, too.
LONGEST_NEXT = 16_384
STEP_UP_PAGE = "/auth/step-up"
#: Beginnings that some reader of the path could take for a host.
_ANOTHER_HOST = re.compile(r"/(?:\.*/|%(?:09|0a|0d|2f|5c))", re.IGNORECASE)
#: Long enough to find a new authenticator after a recovery code.
_RECOVERY_LIFE = timedelta(minutes=15)

#: The first that matches names it: what pretends to be another comes before that other.
_PROGRAMS = (
    ("Edge", re.compile(r"\bEdg(?:e|A|iOS)?/")),
    ("Opera", re.compile(r"\bOPR/")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/")),
    ("Chromium", re.compile(r"\bChromium/")),
    ("Chrome", re.compile(r"\b(?:Headless)?Chrome/|\bCriOS/")),
    ("Safari", re.compile(r"\bSafari/")),
    ("curl", re.compile(r"^curl/")),
)
_SYSTEMS = (
    ("iPhone", re.compile(r"\biPhone\b")),
    ("iPad", re.compile(r"\biPad\b")),
    ("Android", re.compile(r"\bAndroid\b")),
    ("ChromeOS", re.compile(r"\bCrOS\b")),
    ("Windows", re.compile(r"\bWindows\b")),
    ("macOS", re.compile(r"\bMac OS X\b")),
    ("Linux", re.compile(r"\bLinux\b")),
)


def device_name(user_agent: str) -> str:
    """Program and system, such as "Firefox, Linux"; empty where neither is known."""
    names = (_first(_PROGRAMS, user_agent), _first(_SYSTEMS, user_agent))
    return ", ".join(name for name in names if name)


def _first(known: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> str:
    return next((name for name, pattern in known if pattern.search(text)), "")


def is_fresh(stepped_up_at: datetime | None, at: datetime) -> bool:
    """Whether a passkey was used recently enough for a sensitive act."""
    return stepped_up_at is not None and at - stepped_up_at <= STEP_UP_LIFE


def may_add_passkey(signed_in: SignedIn, at: datetime) -> bool:
    """A fresh passkey, or a recovery code that was used to get back to one."""
    recovered = "otp" in signed_in.amr and at - signed_in.auth_time <= _RECOVERY_LIFE
    return recovered or is_fresh(signed_in.stepped_up_at, at)


def place_of(address: str) -> str:
    """Whom an address stands for: itself, or the /64 that one customer has of IPv6."""
    with suppress(ValueError):
        parsed = ip_address(address.partition("%")[0])
        if isinstance(parsed, IPv6Address):
            mapped = parsed.ipv4_mapped
            return str(mapped or ip_network((parsed, 64), strict=False))
        return str(parsed)
    return "unknown"


def safe_next(target: str, otherwise: str) -> str:
    """The path on this site to go on to; `otherwise` for all that could lead elsewhere."""
    plain = target.isascii() and target.isprintable() and not set(target) & set("\\ ")
    if not plain or not target.startswith("/") or target.startswith("//"):
        return otherwise
    path = urlsplit(target).path
    if urlsplit(target).netloc or _ANOTHER_HOST.match(path):
        return otherwise
    return target
