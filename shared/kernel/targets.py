"""What a probe may be aimed at: a strict reading of the text, and a policy over addresses.

Tools read more than one spelling of an address (`0x7f.1`, `2130706433`), and take what they cannot read
for a name (`999.1.1.1`). Here one address has one spelling, and everything else is refused with its reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, ClassVar

from shared.kernel.errors import AppError, FieldError, InvalidInput, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

#: Greatest length of a name in presentation form (RFC 1035, section 2.3.4).
MAX_TARGET_LENGTH = 253
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
_LABEL_OF_A_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)


class TargetInvalid(InvalidInput):
    """The target is neither an address nor a host name."""

    code = "target_invalid"


class TargetRefused(AppError):
    """The target's address may not be probed from this node."""

    kind: ClassVar[Kind] = Kind.INVALID
    code: ClassVar[str] = "target_refused"


@dataclass(frozen=True, slots=True)
class HostName:
    """A host name (RFC 1123, section 2.1) in lower case, not yet resolved."""

    text: str

    def __str__(self) -> str:
        """Show the name itself."""
        return self.text


def parse_target(text: str) -> Address | HostName:
    """Read an address in its one canonical form, or a strict host name.

    Raises TargetInvalid with one field error for `target` that names the reason and the remedy.
    """
    _check_characters(text)
    if ":" in text:
        return _parse_ipv6(text)
    if _LABEL_OF_A_NUMBER.fullmatch(text.lower().rsplit(".", 1)[-1]):
        return _parse_ipv4(text)
    return _parse_name(text)


def _invalid(code: str, message: str) -> TargetInvalid:
    return TargetInvalid(message, fields=(FieldError("target", code, message),))


def _check_characters(text: str) -> None:
    if not text:
        raise _invalid("target_empty", "Name an address or a host.")
    if len(text) > MAX_TARGET_LENGTH:
        raise _invalid("target_too_long", f"A target has at most {MAX_TARGET_LENGTH} characters.")
    if text.startswith("-"):
        raise _invalid("target_option", "A target does not begin with a hyphen.")
    if not text.isascii():
        raise _invalid("target_not_ascii", "Write an internationalised name in its ASCII form (xn--…).")
    if not text.isprintable() or " " in text:
        raise _invalid("target_characters", "A target has no spaces and no control characters.")
    if "%" in text:
        raise _invalid("target_zone", "An address with a zone (%interface) cannot be probed.")


def _parse_ipv6(text: str) -> IPv6Address:
    try:
        address = IPv6Address(text)
    except ValueError:
        raise _invalid("target_address", "This is not an IPv6 address.") from None
    if text not in _spellings(address):
        raise _invalid("target_not_canonical", f"Write the address as {address} (RFC 5952).")
    return address


def _spellings(address: IPv6Address) -> set[str]:
    """The canonical form; for an IPv4-mapped address also the dotted one (RFC 5952, section 5)."""
    mapped = address.ipv4_mapped
    return {str(address), address.compressed} | ({f"::ffff:{mapped}"} if mapped else set())


def _parse_ipv4(text: str) -> IPv4Address:
    # A name never ends in a number (RFC 1123, section 2.1), so this can only be meant as an address.
    try:
        return IPv4Address(text)
    except ValueError:
        message = "Write an IPv4 address as four decimal numbers from 0 to 255 without leading zeros."
        raise _invalid("target_address", message) from None


def _parse_name(text: str) -> HostName:
    name = text.lower()
    if not all(_LABEL.fullmatch(label) for label in name.split(".")):
        message = "A host name has labels of letters, digits and inner hyphens, joined by single dots."
        raise _invalid("target_name", message)
    return HostName(name)


def _named(reason: str, *networks: str) -> tuple[tuple[Network, str], ...]:
    return tuple((ip_network(network), reason) for network in networks)


#: Refused unless a policy allows them by name; the most telling reason stands first.
ALWAYS_DENIED: tuple[tuple[Network, str], ...] = (
    *_named("is a loopback address", "127.0.0.0/8", "::1/128"),
    *_named("is the unspecified address", "::/128"),
    *_named("is in 'this network' (RFC 1122)", "0.0.0.0/8"),
    *_named("is a cloud metadata address", "169.254.169.254/32", "100.100.100.200/32", "fd00:ec2::254/128"),
    *_named("is a link-local address", "169.254.0.0/16", "fe80::/10"),
    *_named("is a multicast address", "224.0.0.0/4", "ff00::/8"),
    *_named("is the broadcast address", "255.255.255.255/32"),
    *_named("is a reserved address", "240.0.0.0/4"),
    *_named("is an IPv4-mapped address", "::ffff:0:0/96"),
    *_named("is an IPv4-compatible address", "::/96"),
    *_named("is an IPv4-translated address", "::ffff:0:0:0/96"),
    *_named("is a NAT64 address", "64:ff9b::/96", "64:ff9b:1::/48"),
    *_named("is a 6to4 address", "2002::/16"),
    *_named("is a Teredo address", "2001::/32"),
)

_PRIVATE = tuple(
    ip_network(text)
    for text in ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10")
)
#: dn42 itself, and the networks that it exchanges routes with.
_DN42 = tuple(
    ip_network(text)
    for text in ("172.20.0.0/14", "172.31.0.0/16", "10.100.0.0/14", "10.127.0.0/16", "fd00::/8")
)
_NAT64 = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class TargetPolicy:
    """Which addresses may be probed.

    `allow` wins over everything, except that an IPv6 address that carries an IPv4 address inside is only
    as good as that one. Then `deny`, the node's `own` addresses and `ALWAYS_DENIED` refuse; what nothing
    names is allowed.
    """

    allow: tuple[Network, ...] = ()
    deny: tuple[Network, ...] = ()
    own: frozenset[Address] = field(default_factory=frozenset)

    def refusal(self, address: Address) -> str | None:
        """Why the address may not be probed, as words that follow the address; None when it may."""
        if _within(address, self.allow):
            return self._refusal_of_embedded(address)
        if address in self.own:
            return "is an address of the node itself"
        for network, reason in ALWAYS_DENIED:
            if address.version == network.version and address in network:
                return reason
        return "is outside the networks that may be probed" if _within(address, self.deny) else None

    def check(self, address: Address) -> None:
        """Raise TargetRefused with the reason when the address may not be probed."""
        reason = self.refusal(address)
        if reason is not None:
            raise TargetRefused(f"{address} {reason}.")

    def _refusal_of_embedded(self, address: Address) -> str | None:
        inner = embedded_ipv4(address)
        reason = self.refusal(inner) if inner is not None else None
        return f"carries {inner} inside, which {reason}" if reason is not None else None


def embedded_ipv4(address: Address) -> IPv4Address | None:
    """The IPv4 address that packets to this IPv6 address would end at, where the form tells it."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped or address.sixtofour:
        return address.ipv4_mapped or address.sixtofour
    if address.teredo:
        return address.teredo[1]
    return IPv4Address(int(address) & 0xFFFF_FFFF) if address in _NAT64 else None


def _within(address: Address, networks: Iterable[Network]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _without(networks: Iterable[Network], holes: Iterable[Network]) -> tuple[Network, ...]:
    """The networks less the holes."""
    remaining = list(networks)
    for hole in holes:
        remaining = [part for network in remaining for part in _cut(network, hole)]
    return tuple(remaining)


def _cut(network: Network, hole: Network) -> list[Network]:
    if isinstance(network, IPv4Network) and isinstance(hole, IPv4Network) and hole.subnet_of(network):
        return list(network.address_exclude(hole))
    if isinstance(network, IPv6Network) and isinstance(hole, IPv6Network) and hole.subnet_of(network):
        return list(network.address_exclude(hole))
    return [network]


#: For fleets on the public internet: private ranges are refused.
CLEARNET = TargetPolicy(deny=_PRIVATE)
#: For fleets of dn42: as `CLEARNET`, but the ranges of dn42 and its neighbours may be probed. They are
#: holes in `deny`, not entries of `allow`, so a metadata address inside them stays refused.
DN42 = TargetPolicy(deny=_without(_PRIVATE, _DN42))

PRESETS: dict[str, TargetPolicy] = {"clearnet": CLEARNET, "dn42": DN42}


def parse_address(text: str) -> Address:
    """An address that a resolver or the kernel gave, without its zone."""
    return ip_address(text.partition("%")[0])
