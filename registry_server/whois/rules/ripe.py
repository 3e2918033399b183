"""Questions in the form of the RIPE database: flags, then what is asked about."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain

from registry_server.objects.rules.classes import CLASSES, fold
from registry_server.objects.rules.numbers import PrefixRefused, parse_asn, parse_prefix
from registry_server.objects.schemas import ProblemCode
from registry_server.snapshot.schemas.content import Snapshot
from registry_server.whois.errors import QueryRefused
from registry_server.whois.rules.addresses import Reach, about_text, filed, read_block
from registry_server.whois.rules.irrd import select_source
from registry_server.whois.rules.manual import ASKS, MANUAL
from registry_server.whois.rules.templates import template_of
from registry_server.whois.rules.text import joined, key_text_of, text_of, without_referrals
from registry_server.whois.schemas import Session, WhoisSettings
from shared import __version__

_END = b"\n\n\n"
_NOTHING = b"%  No entries found for the selected source(s)."
#: Flags that change nothing here: what they leave out is never added.
_WITHOUT_EFFECT = frozenset("aAbBcCdFGHNrR")
_REACHES = {reach.value: reach for reach in Reach if reach.value}
#: Attributes by whose values objects are found.
INVERSE = frozenset({"origin", *(name for each in CLASSES.values() for name in each.references)})


def refused(reason: str) -> bytes:
    """Refuse a question."""
    return f"%% ERROR: {reason}\n\n\n".encode()


@dataclass(slots=True)
class _Asked:
    """What the flags of one question say."""

    classes: frozenset[str] | None = None
    keys_only: bool = False
    reach: Reach | None = None
    inverse: str | None = None
    template: str | None = None
    verbose: bool = False
    query: str | None = None
    words: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ripe:
    """Answers one connection's questions from one snapshot."""

    snapshot: Snapshot
    settings: WhoisSettings
    session: Session

    def answer(self, question: str) -> bytes:
        """Answer one line. Raises QueryRefused or AnswerTooLarge."""
        asked = _read(question.split(), self.settings, self.session)
        if asked.query is not None:
            return self._banner() + self._about_us(asked.query) + _END
        if asked.template is not None:
            template = template_of(self.snapshot, asked.template, verbose=asked.verbose)
            return self._banner() + template + _END
        text = " ".join(asked.words)
        if not text:
            if self.session.persistent:
                return b""
            raise QueryRefused("nothing is asked for; ask for help to see what may be")
        if text.lower() in ASKS and fold(text) not in self.snapshot.by_key:
            return self._banner() + MANUAL + _END
        entries = self.snapshot.entries
        found = [entries[place] for place in self._find(asked, text)]
        if asked.classes is not None:
            found = [entry for entry in found if entry.object_class in asked.classes]
        render = key_text_of if asked.keys_only else text_of
        texts = (without_referrals(render(entry)) for entry in found)
        return self._banner() + (joined(texts, self.settings.answer_bytes) or _nothing(text)) + _END

    def _find(self, asked: _Asked, text: str) -> Iterable[int]:
        if asked.inverse is not None:
            return self._naming(asked.inverse, text)
        if asked.reach is None:
            return about_text(self.snapshot, text)
        block = read_block(text)
        if block is None:
            raise QueryRefused(f"Invalid input for route search: {text}")
        return chain(
            filed(self.snapshot.networks, block, asked.reach), filed(self.snapshot.routes, block, asked.reach)
        )

    def _naming(self, attributes: str, value: str) -> Iterable[int]:
        names = [name for name in attributes.lower().split(",") if name]
        for name in names:
            if name not in INVERSE:
                supported = ", ".join(sorted(INVERSE))
                raise QueryRefused(f"Inverse search is not supported for {name}, only for: {supported}")
        number = parse_asn(value)
        folded = fold(value) if number is None else f"as{number}"
        found = (self.snapshot.inverse.get(name, {}).get(folded, ()) for name in names)
        return sorted(set(chain.from_iterable(found)))

    def _banner(self) -> bytes:
        commit = (self.snapshot.facts.commit or "")[:12]
        return f"% Source {self.settings.source} as of commit {commit}\n\n".encode()

    def _about_us(self, query: str) -> bytes:
        if query == "sources":
            return f"{self.settings.source}:3:N:0-{self.snapshot.facts.version}".encode()
        if query == "version":
            return f"% routeloom {__version__}".encode()
        if query == "types":
            return "\n".join(sorted(CLASSES)).encode()
        raise QueryRefused(f"Unrecognised parameter: {query}")


def _nothing(text: str) -> bytes:
    """What to say where nothing is found: with the reason, where it is a slip of the pen."""
    try:
        parse_prefix(text)
    except PrefixRefused as refusal:
        if refusal.code is ProblemCode.HOST_BITS:
            return _NOTHING + f"\n%  {text}: {refusal.detail}".encode()
    return _NOTHING


def _read(components: list[str], settings: WhoisSettings, session: Session) -> _Asked:
    """Read flags up to the first word, behind which all is taken for what is asked about."""
    asked = _Asked()
    waiting = list(reversed(components))
    while waiting and waiting[-1].startswith("-") and len(waiting[-1]) > 1:
        flag = waiting.pop()[1:]
        if flag in _WITH_ARGUMENT:
            if not waiting:
                raise QueryRefused(f"Missing argument for flag/search: {flag}")
            _WITH_ARGUMENT[flag](asked, settings, waiting.pop())
        elif flag in _REACHES:
            asked.reach = _REACHES[flag]
        elif not set(flag) <= _WITHOUT_EFFECT | {"k", "K"}:
            raise QueryRefused(f"Unrecognised flag/search: {flag}; ask for help to see what there is")
        asked.keys_only |= "K" in flag and flag not in _WITH_ARGUMENT
        session.persistent |= flag == "k"
    asked.words = waiting[::-1]
    return asked


def _classes(asked: _Asked, settings: WhoisSettings, argument: str) -> None:
    del settings
    asked.classes = frozenset(argument.lower().split(","))


def _inverse(asked: _Asked, settings: WhoisSettings, argument: str) -> None:
    del settings
    asked.inverse = argument


def _source(asked: _Asked, settings: WhoisSettings, argument: str) -> None:
    del asked
    select_source(argument, settings.source)


def _template(asked: _Asked, settings: WhoisSettings, argument: str) -> None:
    del settings
    asked.template = argument.lower()


def _verbose(asked: _Asked, settings: WhoisSettings, argument: str) -> None:
    _template(asked, settings, argument)
    asked.verbose = True


def _query(asked: _Asked, settings: WhoisSettings, argument: str) -> None:
    del settings
    asked.query = argument.lower()


def _client(asked: _Asked, settings: WhoisSettings, argument: str) -> None:
    """What the client calls itself: some put it in front of every question."""
    del asked, settings, argument


_WITH_ARGUMENT: dict[str, Callable[[_Asked, WhoisSettings, str], None]] = {
    "T": _classes,
    "i": _inverse,
    "s": _source,
    "t": _template,
    "v": _verbose,
    "q": _query,
    "V": _client,
}
