"""Why a tier does not answer, as a sentence for whoever mends it; nothing of the URL is in it."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from shared.cache.errors import Reason
from shared.cache.replies import ErrorReply, RawErrorReply

_BY_WORD = {
    "NOAUTH": "The server asks for a password and the URL has none.",
    "WRONGPASS": "The server does not accept the user name or the password of the URL.",
    "NOPERM": "The server does not let the user of the URL do this: `ACL GETUSER` shows what it may.",
    "LOADING": "The server is loading its data.",
    "BUSY": "The server is busy with a script.",
    "MASTERDOWN": "The server is a replica that has lost its master.",
}
#: Refusals without a word of their own, by how they begin.
_BY_BEGINNING = {
    "ERR AUTH": "The URL has a password and the server knows of none.",
    "ERR Client sent AUTH": "The URL has a password and the server knows of none.",
    "ERR DB index": "The server has no database of this number: raise `databases` or name another.",
    "ERR max number of clients": "The server has as many clients as it takes: raise `maxclients`.",
    "DENIED": "The server runs in protected mode and takes nobody from outside its host.",
    "-DENIED": "The server runs in protected mode and takes nobody from outside its host.",
}
_BY_ERROR: tuple[tuple[type[BaseException], str], ...] = (
    (
        ssl.SSLCertVerificationError,
        "The server's certificate is not of the authority in TLS_CA, or is for another name or time.",
    ),
    (ssl.SSLError, "No TLS with this server: it speaks none, or does not accept our certificate."),
    (socket.gaierror, "The host name of the URL is not known."),
    (ConnectionRefusedError, "Nobody listens at the address of the URL."),
)
_BY_REASON = {
    Reason.DEADLINE: "The server does not answer in time.",
    Reason.PROTOCOL: "Whoever answers there is no key-value server, or wants TLS (rediss://, valkeys://).",
    Reason.CONNECTION: "The connection breaks off: is the server there, and does it want TLS (rediss://)?",
}
_REFUSED = "The server refuses this service."


def sentence_of(error: BaseException) -> str:
    """What an error of a connection means; empty where its reason says as much."""
    for met in _chain(error):
        if isinstance(met, RawErrorReply):
            return _of_reply(ErrorReply(str(met)))
        for kind, sentence in _BY_ERROR:
            if isinstance(met, kind):
                return sentence
    return ""


def sentence_for(reason: Reason, *, encrypted: bool) -> str:
    """What can be said by the reason alone."""
    if reason is Reason.DEADLINE and encrypted:
        return "The server does not answer in time; one that speaks no TLS keeps silent like this."
    return _BY_REASON.get(reason, _REFUSED)


def _of_reply(reply: ErrorReply) -> str:
    if reply.word in _BY_WORD:
        return _BY_WORD[reply.word]
    beginnings = (said for begin, said in _BY_BEGINNING.items() if reply.text.startswith(begin))
    return next(beginnings, _REFUSED)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and those it came from: the clients wrap what a socket raised."""
    met: BaseException | None = error
    while met is not None:
        yield met
        met = met.__cause__ or met.__context__
