"""The port for routers: PDUs in, PDUs out."""

from __future__ import annotations

from registry_server.roas.rules import pdus
from registry_server.roas.rules.pdus import Fault, Pdu
from registry_server.roas.service.exports import RoaService
from registry_server.roas.service.routers import RouterCache
from shared.listeners import Connection, ConnectionTable, Listener

#: The longest that a router has to say: an error report with a PDU of ours and a sentence.
_LONGEST = 8192
#: An error report quotes at most so much of what it is about.
_QUOTED = 256
#: What caches say, and routers do not.
_ALL = frozenset({*Pdu, *pdus.PREFIX_TYPES})
_UNFINISHED_SECONDS = 30.0
#: A router asks by itself after the refresh interval; this many without a word, and it is gone.
_REFRESHES = 3


class RouterConnection(Connection):
    """One router. The version is that of its first PDU, or the newest of ours below it."""

    def __init__(self, table: ConnectionTable, cache: RouterCache) -> None:
        super().__init__(table)
        self._cache = cache
        self._buffer = b""
        self._opened: int | None = None
        self._version = pdus.NEWEST
        self._next_notify_at = 0.0
        self._notifying = False
        self.silent_for(_UNFINISHED_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Take in what came, and answer what is complete."""
        if self.transport.is_closing():
            return
        self._buffer += data
        self._work()

    def resume_writing(self) -> None:
        """The router has caught up: go on."""
        super().resume_writing()
        self._work()

    def notify(self) -> None:
        """Tell the router that there is something new, now or when it may be told again."""
        if self._opened is None or self._notifying or self.transport.is_closing():
            return
        self._notifying = True
        self._loop.call_later(max(self._next_notify_at - self._loop.time(), 0), self._notify_now)

    def _notify_now(self) -> None:
        self._notifying = False
        told = None if self.transport.is_closing() else self._cache.notify(self._version)
        if told is not None:
            self._next_notify_at = self._loop.time() + self._cache.settings.notify_every.total_seconds()
            self.transport.write(told)

    def _work(self) -> None:
        """Answer PDU by PDU, as fast as the router takes it."""
        while self.writable and not self.transport.is_closing() and len(self._buffer) >= pdus.HEADER.size:
            version, kind, field, length = pdus.HEADER.unpack_from(self._buffer)
            if not pdus.HEADER.size <= length <= _LONGEST:
                self._refuse(Fault.CORRUPT_DATA, self._buffer[: pdus.HEADER.size], "the length cannot be")
                return
            if len(self._buffer) < length:
                break
            pdu, self._buffer = self._buffer[:length], self._buffer[length:]
            if not self._negotiated(version, pdu):
                return
            self._answer(kind, field, pdu)
        if not self._buffer:
            refresh = self._cache.settings.refresh.total_seconds()
            self.silent_for(_REFRESHES * refresh if self._opened is not None else _UNFINISHED_SECONDS)

    def _negotiated(self, version: int, pdu: bytes) -> bool:
        """Fix the version by the first PDU; later ones keep to it."""
        if self._opened is None:
            self._opened, self._version = version, min(version, pdus.NEWEST)
            # The answer to what it asked tells it all; a notify of the same serial would tell it nothing.
            self._next_notify_at = self._loop.time()
            return True
        if version in {self._opened, self._version}:
            return True
        self._refuse(Fault.UNEXPECTED_VERSION, pdu, f"this session has version {self._version}")
        return False

    def _answer(self, kind: int, session: int, pdu: bytes) -> None:
        length = len(pdu)
        if kind == Pdu.RESET_QUERY and length == pdus.HEADER.size:
            self._say(self._cache.everything(self._version), pdu)
        elif kind == Pdu.SERIAL_QUERY and length == pdus.HEADER.size + 4:
            serial = int.from_bytes(pdu[pdus.HEADER.size :])
            self._say(self._cache.since(self._version, session, serial), pdu)
        elif kind == Pdu.ERROR_REPORT:
            # Never answered with another report (RFC 8210, section 5.11).
            self.transport.close()
        elif kind in {Pdu.RESET_QUERY, Pdu.SERIAL_QUERY}:
            self._refuse(Fault.CORRUPT_DATA, pdu, f"a length of {length} is not that of its type")
        elif kind in _ALL:
            self._refuse(Fault.INVALID_REQUEST, pdu, "that is no question of a router")
        else:
            self._refuse(Fault.UNSUPPORTED_PDU, pdu, f"PDUs of type {kind} are not understood")

    def _say(self, answer: bytes | None, pdu: bytes) -> None:
        if answer is not None:
            self.transport.write(answer)
            return
        # Not fatal: the router keeps what it has, and is notified when there is something.
        self.transport.write(pdus.error_report(self._version, Fault.NO_DATA, pdu, "there is no data yet"))

    def _refuse(self, fault: Fault, about: bytes, text: str) -> None:
        self._buffer = b""
        self.transport.write(pdus.error_report(self._version, fault, about[:_QUOTED], text))
        self.transport.close()


def listen(cache: RouterCache, roas: RoaService, *, shared: bool) -> Listener:
    """The port, not yet open; routers that are connected are notified of changes."""
    listener = Listener(
        "registry.rtr",
        cache.settings,
        lambda table: RouterConnection(table, cache),
        shared=shared,
        opening=roas.snapshots.opened_soon,
    )

    def notify_all() -> None:
        for connection in listener.table:
            if isinstance(connection, RouterConnection):
                connection.notify()

    cache.on_change(notify_all)
    return listener


def probe(cache: RouterCache) -> bytes:
    """A question that a watch may ask at any time: of another session, which Cache Reset answers."""
    return pdus.serial_query(pdus.NEWEST, cache.session ^ 1, 0)
