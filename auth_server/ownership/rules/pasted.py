"""What kind of block somebody pasted: exactly one, whole, and with nothing around it."""

from __future__ import annotations

import re
from enum import StrEnum

from auth_server.ownership.errors import (
    PrivateKeyPasted,
    PublicKeyMalformed,
    SignatureMalformed,
)

_ARMOUR = r"(?:[A-Za-z0-9-]+: [^\n]*\n)*\n?(?:[A-Za-z0-9+/=]+\n)+"
_SSH = re.compile(
    r"-----BEGIN SSH SIGNATURE-----\n(?:[A-Za-z0-9+/=]+\n)+-----END SSH SIGNATURE-----\n", re.ASCII
)
_DETACHED = re.compile(rf"-----BEGIN PGP SIGNATURE-----\n{_ARMOUR}-----END PGP SIGNATURE-----\n", re.ASCII)
#: In the text a line that begins with a dash is escaped (RFC 9580, section 7.2), so no block hides in it.
_CLEAR = re.compile(
    r"-----BEGIN PGP SIGNED MESSAGE-----\n(?:Hash: [A-Za-z0-9, ]+\n)*\n(?:(?:- [^\n]*|[^-\n][^\n]*)?\n)*"
    rf"-----BEGIN PGP SIGNATURE-----\n{_ARMOUR}-----END PGP SIGNATURE-----\n"
)
_PUBLIC_KEY = re.compile(
    rf"-----BEGIN PGP PUBLIC KEY BLOCK-----\n{_ARMOUR}-----END PGP PUBLIC KEY BLOCK-----\n", re.ASCII
)
_PRIVATE = re.compile(r"BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File", re.IGNORECASE)


class Form(StrEnum):
    """How a signature is written."""

    SSH = "ssh"
    PGP_DETACHED = "pgp_detached"
    PGP_CLEAR = "pgp_clear"


_FORMS = ((Form.SSH, _SSH), (Form.PGP_DETACHED, _DETACHED), (Form.PGP_CLEAR, _CLEAR))


def read_signature(text: str) -> tuple[Form, str]:
    """The form of the signature, and the block alone. Raises PrivateKeyPasted or SignatureMalformed."""
    block = _plain(text)
    for form, pattern in _FORMS:
        if pattern.fullmatch(block):
            return form, block
    raise SignatureMalformed


def read_public_key(text: str) -> str:
    """The one armoured key, or empty. Raises PrivateKeyPasted or PublicKeyMalformed."""
    if not text.strip():
        return ""
    block = _plain(text)
    if not _PUBLIC_KEY.fullmatch(block):
        raise PublicKeyMalformed
    return block


def holds_private_key(text: str) -> bool:
    """Whether somebody pasted what nobody else may see; it is then neither kept nor shown again."""
    return bool(_PRIVATE.search(text))


def _plain(text: str) -> str:
    """With the line ends of a browser's form undone, and what blanks a terminal's selection adds."""
    if holds_private_key(text):
        raise PrivateKeyPasted
    lines = text.strip().replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip(" \t\r") for line in lines) + "\n"
