"""Answers whois questions from the current snapshot; what was asked before is answered from memory."""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog

from registry_server.snapshot.schemas.content import Snapshot
from registry_server.snapshot.service import SnapshotKeeper
from registry_server.whois.errors import AnswerTooLarge, QueryRefused
from registry_server.whois.rules import irrd, ripe
from registry_server.whois.schemas import Session, WhoisSettings

log = structlog.get_logger(__name__)
#: Questions whose answer depends on the snapshot alone, and changes nothing in the session.
_REMEMBERED = frozenset({b"g", b"6", b"a", b"i", b"m", b"o", b"r"})
_MOST_REMEMBERED = 8 << 20
_LONGEST_REMEMBERED = 1 << 20


@dataclass(slots=True)
class _Memory:
    """Answers of one snapshot, by the very bytes of the question; bounded, and gone with the snapshot."""

    snapshot: Snapshot | None = None
    size: int = 0
    answers: dict[bytes, bytes] = field(default_factory=dict)

    def keep(self, question: bytes, answer: bytes) -> None:
        cost = len(question) + len(answer) + 200
        if cost > _LONGEST_REMEMBERED:
            return
        if self.size + cost > _MOST_REMEMBERED:
            self.answers.clear()
            self.size = 0
        self.answers[question] = answer
        self.size += cost


@dataclass(slots=True)
class WhoisService:
    """One for a process. `questions` and `refusals` count what was asked."""

    snapshots: SnapshotKeeper
    settings: WhoisSettings
    questions: int = 0
    refusals: int = 0
    _memory: _Memory = field(default_factory=_Memory)

    def begin(self) -> Session:
        """A new connection."""
        return Session(idle=self.settings.idle.total_seconds())

    def answer(self, session: Session, line: bytes) -> bytes | None:
        """The answer to one line, without its line end; empty where there is none to give.

        None: close without a word. A filter generator takes a refusal for an empty answer and writes a filter
        that lets nothing through, but notices a closed connection; so whatever is our fault closes it.
        """
        memory = self._memory
        snapshot = self.snapshots.current
        if memory.snapshot is not snapshot:
            memory = self._memory = _Memory(snapshot)
        self.questions += 1
        known = memory.answers.get(line)
        if known is not None and not session.excluded:
            return known
        if snapshot is None:
            return None
        return self._answer_anew(session, line, snapshot)

    def _answer_anew(self, session: Session, line: bytes, snapshot: Snapshot) -> bytes | None:
        text = _without_client(line.decode(errors="replace").strip())
        if not text:
            return b""
        bang = text.startswith("!")
        try:
            answer = self._ask(session, text, snapshot)
        except QueryRefused as refusal:
            self.refusals += 1
            return (irrd.failed if bang else ripe.refused)(refusal.detail)
        except AnswerTooLarge as refusal:
            self.refusals += 1
            return None if bang else ripe.refused(refusal.detail)
        except Exception:
            log.exception("whois_question_failed")
            return None
        if line[1:2] in _REMEMBERED and line[:1] == b"!" and not session.excluded:
            self._memory.keep(line, answer)
        return answer

    def _ask(self, session: Session, text: str, snapshot: Snapshot) -> bytes:
        if "\x00" in text:
            raise QueryRefused("Queries may not contain null bytes")
        if text.startswith("!"):
            return irrd.Irrd(snapshot, self.settings, session).answer(text[1:])
        return ripe.Ripe(snapshot, self.settings, session).answer(text)


def _without_client(text: str) -> str:
    """A `!` query behind the `-V <client>` that whois puts in front of everything, else the text as it is."""
    if text.startswith("-V "):
        parts = text.split(None, 2)
        if len(parts) == 3 and parts[2].startswith("!"):  # noqa: PLR2004 - flag, client and question
            return parts[2]
    return text
