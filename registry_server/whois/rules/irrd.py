"""IRRd's `!` queries: what filter generators ask.

Every answer is exact to the byte, because they read it by its announced length: `A<length>`, the payload and
`C`; `C` alone for "done"; `D` for "nothing"; `F <reason>` for a question that is wrong in itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.numbers import MAX_ASN
from registry_server.snapshot.rules import framed
from registry_server.snapshot.schemas.content import Snapshot
from registry_server.whois.errors import AnswerTooLarge, QueryRefused
from registry_server.whois.rules.addresses import Reach, filed, of_origin, read_block
from registry_server.whois.rules.expansion import Expander
from registry_server.whois.rules.text import joined, text_of
from registry_server.whois.schemas import Session, WhoisSettings
from shared import __version__

DONE, NOTHING = b"C\n", b"D\n"
_LONGEST_IDLE = 1000
_SECONDS = re.compile("[0-9]{1,4}", re.ASCII)
_DOT = 1 << 16
_REACHES = {"": Reach.EXACT, "o": Reach.EXACT, "l": Reach.ONE_LESS, "L": Reach.ALL_LESS, "M": Reach.ALL_MORE}
_NEED_PARAMETER = frozenset("tg6ijmnors")
_ROUTE_CLASSES = ("route", "route6")


def failed(reason: str) -> bytes:
    """Refuse a question. Never said for a state of ours: clients take it for an empty answer."""
    return f"F {reason}\n".encode()


def select_source(names: str, source: str) -> None:
    """Check that nothing but this registry is asked for. Raises QueryRefused."""
    if any(name.strip().upper() != source for name in names.split(",")):
        raise QueryRefused("One or more selected sources are unavailable.")


@dataclass(frozen=True, slots=True)
class Irrd:
    """Answers one connection's `!` queries from one snapshot."""

    snapshot: Snapshot
    settings: WhoisSettings
    session: Session

    def answer(self, command: str) -> bytes:
        """Answer what stands behind the `!`. Raises QueryRefused or AnswerTooLarge."""
        if not command:
            raise QueryRefused("Missing IRRD command")
        name, parameter = command[0], command[1:]
        if name in _NEED_PARAMETER and not parameter:
            raise QueryRefused(f"Missing parameter for {name} query")
        act = _COMMANDS.get(name)
        if act is None:
            raise QueryRefused(f"Unrecognised command: {name}")
        return act(self, parameter)

    def persist(self, parameter: str) -> bytes:
        """`!!`: go on after this one. There is no answer, not even `C`."""
        del parameter
        self.session.persistent = True
        return b""

    def quit(self, parameter: str) -> bytes:
        """`!q`: close."""
        del parameter
        self.session.closing = True
        return b""

    def note(self, parameter: str) -> bytes:
        """`!n`: what the client calls itself."""
        del self, parameter
        return DONE

    def set_idle(self, parameter: str) -> bytes:
        """`!t`: close after so many seconds without a question."""
        seconds = int(parameter) if _SECONDS.fullmatch(parameter) else 0
        if not 0 < seconds <= _LONGEST_IDLE:
            raise QueryRefused(f"Invalid value for timeout: {parameter}")
        self.session.idle = float(seconds)
        return DONE

    def version(self, parameter: str) -> bytes:
        """`!v`."""
        del self, parameter
        return framed(f"IRRd -- version routeloom {__version__}")

    def routes4(self, parameter: str) -> bytes:
        """`!g`: the IPv4 prefixes of an origin."""
        return self.snapshot.originated[4].answers.get(_read_number(parameter), NOTHING)

    def routes6(self, parameter: str) -> bytes:
        """`!6`: the IPv6 prefixes of an origin."""
        return self.snapshot.originated[6].answers.get(_read_number(parameter), NOTHING)

    def set_routes(self, parameter: str) -> bytes:
        """`!a`, `!a4`, `!a6`: the prefixes of all members of an as-set."""
        families = (4, 6)
        if parameter[:1] in {"4", "6"}:
            families, parameter = ((int(parameter[0]),), parameter[1:])  # type: ignore[assignment]
        if not parameter:
            raise QueryRefused("Missing required set name for A query")
        expander = self._expander()
        numbers = expander.as_numbers(parameter)
        return self._listed(prefix for family in families for prefix in expander.routed(numbers, family))

    def members(self, parameter: str) -> bytes:
        """`!i`: the members of a set, with `,1` those of the sets below it."""
        name, _, depth = parameter.partition(",")
        expander = self._expander()
        return self._listed(expander.resolved(name) if depth == "1" else expander.members(name))

    def sources(self, parameter: str) -> bytes:
        """`!s`: which registries there are, or which are meant from now on."""
        if parameter == "-lc":
            return framed(self.settings.source)
        if parameter != "-*":
            select_source(parameter, self.settings.source)
        return DONE

    def exclude(self, parameter: str) -> bytes:
        """`!e`: sets that are not to be followed, or which those are."""
        if parameter == "-lc":
            names = ",".join(sorted(name.upper() for name in self.session.excluded))
            return framed(names) if names else DONE
        self.session.excluded = frozenset(fold(name) for name in parameter.split(",") if name)
        return DONE

    def serials(self, parameter: str) -> bytes:
        """`!j`: there is no journal."""
        source = self.settings.source
        names = [source] if parameter == "-*" else parameter.upper().split(",")
        known = [f"{name}:N:-" for name in names if name == source]
        return framed(
            "\n".join([*known, *(f"{each}:X:Database unknown" for each in names if each != source)])
        )

    def status(self, parameter: str) -> bytes:
        """`!J`: what is served."""
        source, facts = self.settings.source, self.snapshot.facts
        names = [source] if parameter in {"", "-*"} else parameter.upper().split(",")
        applied = facts.applied_at.isoformat() if facts.applied_at else None
        known = {"source_type": "regular", "commit": facts.commit, "last_update": applied}
        shown = {name: known if name == source else {"error": "Unknown source"} for name in names}
        return framed(json.dumps(shown, indent=4))

    def exact_key(self, parameter: str) -> bytes:
        """`!m`: the object of a class with a key."""
        object_class, comma, key = parameter.partition(",")
        if not comma:
            raise QueryRefused(f"Invalid argument for object lookup: {parameter}")
        object_class = object_class.strip().lower()
        return self._texts(self._keyed(object_class, key)[:1])

    def maintained(self, parameter: str) -> bytes:
        """`!o`: everything that a maintainer maintains."""
        return self._texts(self.snapshot.inverse.get("mnt-by", {}).get(fold(parameter), ()))

    def search_routes(self, parameter: str) -> bytes:
        """`!r`: routes at, around or inside a block; with `,o` their origins."""
        text, _, option = parameter.partition(",")
        block = read_block(text.strip())
        if block is None:
            raise QueryRefused(f"Invalid input for route search: {parameter}")
        if option not in _REACHES:
            raise QueryRefused(f"Invalid route search option: {option}")
        found = filed(self.snapshot.routes, block, _REACHES[option])
        if option != "o":
            return self._texts(found)
        numbers = {number for place in found for number in self.snapshot.origins_of.get(place, ())}
        return self._listed(f"AS{number}" for number in sorted(numbers))

    def flags(self, parameter: str) -> bytes:
        """`!fno-…`: filters that we do not have are switched off with pleasure."""
        if parameter.upper() not in {"NO-RPKI-FILTER", "NO-SCOPE-FILTER", "NO-ROUTE-PREFERENCE-FILTER"}:
            raise QueryRefused("Unrecognised command: f")
        return framed("This server applies no such filter to its answers.")

    def _expander(self) -> Expander:
        return Expander(self.snapshot, self.session.excluded, self.settings.range_limit)

    def _keyed(self, object_class: str, key: str) -> list[int]:
        entries = self.snapshot.entries
        places = [
            place
            for place in self.snapshot.by_key.get(fold(key), ())
            if entries[place].object_class == object_class
        ]
        if places or object_class not in _ROUTE_CLASSES:
            return places
        return list(of_origin(self.snapshot, fold(key), object_class))

    def _listed(self, words: Iterable[str]) -> bytes:
        text = " ".join(words)
        if len(text) > self.settings.answer_bytes:
            raise AnswerTooLarge
        return framed(text) if text else NOTHING

    def _texts(self, places: Iterable[int]) -> bytes:
        entries = self.snapshot.entries
        text = joined((text_of(entries[place]) for place in places), self.settings.answer_bytes)
        return framed(text) if text else NOTHING


def _read_number(text: str) -> int:
    """The AS number of `AS<n>`, or of `AS<high>.<low>` (RFC 5396). Raises QueryRefused."""
    upper = text.strip().upper()
    if not upper.startswith("AS"):
        raise QueryRefused(f'Invalid AS number {upper}: must start with "AS"')
    high, dot, low = upper[2:].partition(".")
    parts = (high, low) if dot else (high,)
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise QueryRefused(f"Invalid AS number {upper}: number part is not numeric")
    number = _joined_number(parts) if max(map(len, parts)) <= len(str(MAX_ASN)) else MAX_ASN + 1
    if number > MAX_ASN:
        raise QueryRefused(f"Invalid AS number {upper}: valid range is 0-{MAX_ASN}")
    return number


def _joined_number(parts: tuple[str, ...]) -> int:
    numbers = [int(part) for part in parts]
    if len(numbers) == 1:
        return numbers[0]
    return numbers[0] * _DOT + numbers[1] if max(numbers) < _DOT else MAX_ASN + 1


_COMMANDS: dict[str, Callable[[Irrd, str], bytes]] = {
    "!": Irrd.persist,
    "q": Irrd.quit,
    "Q": Irrd.quit,
    "n": Irrd.note,
    "t": Irrd.set_idle,
    "v": Irrd.version,
    "g": Irrd.routes4,
    "6": Irrd.routes6,
    "a": Irrd.set_routes,
    "i": Irrd.members,
    "s": Irrd.sources,
    "e": Irrd.exclude,
    "j": Irrd.serials,
    "J": Irrd.status,
    "m": Irrd.exact_key,
    "o": Irrd.maintained,
    "r": Irrd.search_routes,
    "f": Irrd.flags,
    "F": Irrd.flags,
}
