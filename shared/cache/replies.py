"""What a server's error reply means, by its first word alone.

Clients map replies to exception classes differently and drop the word on the way; the sentence after it
changes between versions. The word is the protocol.
"""

from __future__ import annotations

from dataclasses import dataclass

from shared.cache.errors import Reason

_REASONS = {
    "OOM": Reason.CAPACITY,
    "MISCONF": Reason.WRITES_REFUSED,
    "READONLY": Reason.WRITES_REFUSED,
    "MASTERDOWN": Reason.WRITES_REFUSED,
    "CLUSTERDOWN": Reason.WRITES_REFUSED,
    "NOREPLICAS": Reason.WRITES_REFUSED,
    "LOADING": Reason.BUSY,
    "BUSY": Reason.BUSY,
    "TRYAGAIN": Reason.BUSY,
    "NOAUTH": Reason.CONFIGURATION,
    "WRONGPASS": Reason.CONFIGURATION,
    "NOPERM": Reason.CONFIGURATION,
    "WRONGTYPE": Reason.WRONG_TYPE,
    "NOSCRIPT": Reason.NO_SCRIPT,
}

#: The tier does not serve at all, which the breaker counts; with the others it answers something.
DEAD = frozenset(
    {Reason.DEADLINE, Reason.CONNECTION, Reason.PROTOCOL, Reason.BUSY, Reason.CONFIGURATION},
)
#: Worth a line in the log, once an hour each.
ALARMING = frozenset(
    {
        Reason.CAPACITY,
        Reason.WRITES_REFUSED,
        Reason.CONFIGURATION,
        Reason.WRONG_TYPE,
        Reason.REFUSED,
        Reason.PROTOCOL,
    }
)


class RawErrorReply(Exception):
    """What a client raises for an error reply: its text with the first word kept."""


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error that the server answered, as a value: it ends one command and harms no other."""

    text: str

    @property
    def word(self) -> str:
        """The first word, which is what classifies."""
        return self.text.partition(" ")[0]

    @property
    def reason(self) -> Reason:
        """What it means for the caller."""
        return _REASONS.get(self.word, Reason.REFUSED)

    @property
    def too_many_clients(self) -> bool:
        """The one refusal without a word of its own: the server closes the connection after it."""
        return self.text.startswith("ERR max number of clients")


def reason_on_opening(reply: ErrorReply) -> Reason:
    """An error while a connection is opened is about how we are configured, unless it says otherwise."""
    if reply.too_many_clients:
        return Reason.CONNECTION
    return Reason.CONFIGURATION if reply.reason is Reason.REFUSED else reply.reason
