"""What follows from a peering without asking anybody: names, ports, merged documents, sealed secrets."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, TypeVar

from nacl.public import PublicKey, SealedBox
from pydantic import BaseModel, ValidationError

from shared.kernel.errors import FieldError, InvalidInput
from shared.protocol.desired_state.names import MAX_INTERFACE_CHARACTERS

Document = TypeVar("Document", bound=BaseModel)

#: Hexadecimal digits behind a name that had to be cut.
_MARK = 4
_PORT_BASE = 20_000
_PORT_SPAN = 10_000


def interface_of(name: str) -> str:
    """The tunnel of a peering, or to a node, unless somebody chose another name.

    Names that begin alike and are too long for an interface end in what tells them apart.
    """
    whole = f"wg-{name.replace('_', '-')}"
    if len(whole) <= MAX_INTERFACE_CHARACTERS:
        return whole.rstrip("-")
    mark = hashlib.sha256(name.encode()).hexdigest()[:_MARK]
    return f"{whole[: MAX_INTERFACE_CHARACTERS - _MARK - 1].rstrip('-')}-{mark}"


def usual_port(asn: int) -> int:
    """The port that dn42's networks use for a neighbour: 2 and the last four digits of its number."""
    return _PORT_BASE + asn % _PORT_SPAN


def merged(present: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    """Apply a merge patch (RFC 7396)."""
    result = dict(present)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict) and isinstance(result.get(name), dict):
            result[name] = merged(result[name], value)
        else:
            result[name] = value
    return result


def checked(model: type[Document], document: dict[str, Any]) -> Document:
    """The document as the model has it. Raises InvalidInput that names each field and its remedy."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        fields = [
            FieldError(
                ".".join(str(part) for part in item["loc"] if part not in {"wireguard", "plain"}) or "body",
                str(item["type"]),
                str(item["msg"]).removeprefix("Value error, "),
            )
            for item in error.errors(include_url=False, include_input=False)
        ]
        named = ", ".join(dict.fromkeys(field.field for field in fields))
        raise InvalidInput(f"Not acceptable: {named}.", fields=fields) from error


def sealed(secret: str, public_key: str) -> str:
    """The secret for the one who has the private key; nobody here can read it again."""
    box = SealedBox(PublicKey(base64.b64decode(public_key)))
    return base64.b64encode(box.encrypt(secret.encode())).decode()
