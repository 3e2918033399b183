"""What a version of BIRD understands (its release notes; each was tried on that version)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from shared.kernel.errors import InvalidInput

_VERSION = re.compile(r"(?:BIRD(?: version)? )?v?(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, order=True)
class BirdVersion:
    """A release of BIRD: 2.0.12 is the oldest that is served."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> BirdVersion:
        """Read `2.0.12`, `BIRD 2.17.1` or `BIRD version 3.1.8`. Raises InvalidInput."""
        found = _VERSION.search(text)
        if found is None:
            detail = "This is not a version of BIRD: write it like 2.0.12."
            raise InvalidInput(detail)
        return cls(int(found[1]), int(found[2]), int(found[3] or 0))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @cached_property
    def declares_results(self) -> bool:
        """`function f() -> bool` is known, and its absence warned of."""
        return self >= BirdVersion(2, 14)

    @cached_property
    def requires_capabilities(self) -> bool:
        """`require extended next hop` is known."""
        return self >= BirdVersion(2, 15)

    @cached_property
    def sends_hold(self) -> bool:
        """`send hold time` is known (RFC 9687)."""
        return self >= BirdVersion(2, 15)

    @cached_property
    def names_authentication(self) -> bool:
        """`authentication md5` belongs beside a password."""
        return self >= BirdVersion(2, 17)

    @cached_property
    def routes_babel_over_ipv6(self) -> bool:
        """Babel carries IPv4 over link-local next hops (RFC 9229)."""
        return self >= BirdVersion(2, 13)

    @cached_property
    def reloads_filters(self) -> bool:
        """`reload filters in` has taken the place of `reload in`."""
        return self.major > 2  # noqa: PLR2004
