"""The whois port: lines in, answers out in the same order, in as few packets as can be."""

from __future__ import annotations

from collections import deque

from registry_server.whois.rules import irrd, ripe
from registry_server.whois.schemas import Session
from registry_server.whois.service import WhoisService
from shared.listeners import Connection, ConnectionTable, Listener

#: Questions answered, and bytes made, before others have their turn.
_QUESTIONS_A_TURN = 64
_BYTES_A_TURN = 262_144


class WhoisConnection(Connection):
    """One client; it may send several questions at once and go on sending while we answer."""

    def __init__(self, table: ConnectionTable, service: WhoisService) -> None:
        super().__init__(table)
        self._service = service
        self._session: Session = service.begin()
        self._most = service.settings.line_bytes
        self._partial = b""
        self._waiting: deque[bytes] = deque()
        self._ended = False
        self.silent_for(self._session.idle)

    def data_received(self, data: bytes) -> None:
        """Take in what came, and answer what is complete."""
        if self.transport.is_closing():
            return
        lines = (self._partial + data if self._partial else data).split(b"\n")
        self._partial = lines.pop()
        self._waiting.extend(lines)
        if len(self._partial) > self._most:
            # Cut short, it will be refused in its turn; no more of it is kept, and none read.
            self._waiting.append(self._partial[: self._most + 1])
            self._partial = b""
            self.transport.pause_reading()
        self._work()

    def eof_received(self) -> bool:
        """The client has said all; a last line may lack its end. Its answers are still sent."""
        self._ended = True
        if self._partial:
            self._waiting.append(self._partial)
            self._partial = b""
        self._work()
        return True

    def resume_writing(self) -> None:
        """The client has caught up with its answers: go on."""
        super().resume_writing()
        self._work()

    def _work(self) -> None:
        """Answer some of the questions in one write; the rest in the next turn of the loop."""
        if self.transport.is_closing() or not self.writable:
            return
        answers: list[bytes] = []
        size, more = 0, True
        for _ in range(_QUESTIONS_A_TURN):
            if not self._waiting or not more or size > _BYTES_A_TURN:
                break
            answer, more = self._answer(self._waiting.popleft())
            answers.append(answer)
            size += len(answer)
        if size:
            self.transport.write(answers[0] if len(answers) == 1 else b"".join(answers))
        if not more or (self._ended and not self._waiting):
            self.transport.close()
            return
        if answers:
            self.silent_for(self._session.idle)
        if self._waiting and self.writable:
            self.transport.pause_reading()
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        if self.writable and not self.transport.is_closing():
            self.transport.resume_reading()
        self._work()

    def _answer(self, line: bytes) -> tuple[bytes, bool]:
        """The answer, and whether there may be another question."""
        if len(line) > self._most:
            reason = f"the question is longer than {self._most} bytes"
            return (irrd.failed if line.startswith(b"!") else ripe.refused)(reason), False
        answer = self._service.answer(self._session, line.rstrip(b"\r"))
        if answer is None:
            return b"", False
        session = self._session
        # A line that asks for nothing, such as an empty one, leaves the connection to the next.
        return answer, not session.closing and (session.persistent or not answer)


def listen(service: WhoisService, *, shared: bool) -> Listener:
    """The port, not yet open."""
    return Listener(
        "registry.whois",
        service.settings,
        lambda table: WhoisConnection(table, service),
        shared=shared,
        opening=service.snapshots.opened_soon,
    )


def probe() -> bytes:
    """A question that a watch may ask at any time."""
    return b"!v\n"
