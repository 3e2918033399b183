"""The node's own keys: made here at the first start, and only their public halves ever leave."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from node_agent.apply.errors import SecretUnreadable
from node_agent.errors import StateDirectoryUnusable
from node_agent.state import read_text, write_private
from shared.protocol.desired_state.document import DesiredState
from shared.protocol.desired_state.links import WireGuardLink
from shared.protocol.fleet import NodeKeys

_WIREGUARD_FILE = "wireguard.key"
_SEALING_FILE = "sealing.key"
_PRINTABLE_FROM, _PRINTABLE_TO = 0x20, 0x7E


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """Private halves. The tunnel key is the node's on all its WireGuard links."""

    wireguard: PrivateKey
    sealing: PrivateKey

    @property
    def public(self) -> NodeKeys:
        """What the server may know."""
        return NodeKeys(
            wireguard=_text(bytes(self.wireguard.public_key)), sealing=_text(bytes(self.sealing.public_key))
        )

    @property
    def wireguard_text(self) -> str:
        """The private key as `wg` reads it; for its standard input alone."""
        return _text(bytes(self.wireguard))

    def open(self, sealed: str, place: str) -> str:
        """The secret that was sealed to this node. Raises SecretUnreadable, naming the place."""
        try:
            opened = SealedBox(self.sealing).decrypt(base64.b64decode(sealed, validate=True))
            text = opened.decode("ascii")
        except (CryptoError, binascii.Error, ValueError) as error:
            detail = f"{place} was not sealed to this node's key. Enter it again."
            raise SecretUnreadable(detail) from error
        if '"' in text or any(not _PRINTABLE_FROM <= ord(character) <= _PRINTABLE_TO for character in text):
            detail = f"{place} holds characters that no configuration takes. Enter it again."
            raise SecretUnreadable(detail)
        return text


def load_keys(directory: Path) -> OwnKeys:
    """The keys of this state directory, made at the first call. Raises StateDirectoryUnusable."""
    return OwnKeys(_load(directory / _WIREGUARD_FILE), _load(directory / _SEALING_FILE))


def open_secrets(state: DesiredState, keys: OwnKeys) -> dict[str, str]:
    """All secrets of a desired state by their place. Raises SecretUnreadable."""
    return {place: keys.open(sealed, place) for place, sealed in sealed_places(state)}


def sealed_places(state: DesiredState) -> Iterator[tuple[str, str]]:
    """Every sealed value with the place by which the renderer asks for it."""
    for peering in state.peerings:
        if peering.session.options.password is not None:
            yield f"peerings.{peering.name}.password", peering.session.options.password
    for interface in state.igp.interfaces:
        if interface.password is not None:
            yield f"igp.{interface.interface}.password", interface.password
    for link in state.links:
        if isinstance(link, WireGuardLink) and link.preshared_key is not None:
            yield f"links.{link.interface}.preshared_key", link.preshared_key


def _load(path: Path) -> PrivateKey:
    text = read_text(path)
    if text is None:
        made = PrivateKey.generate()
        write_private(path, _text(bytes(made)) + "\n")
        return made
    try:
        return PrivateKey(base64.b64decode(text, validate=True))
    except (CryptoError, binascii.Error, ValueError, TypeError) as error:
        detail = f"{path} holds no usable key."
        raise StateDirectoryUnusable(detail) from error


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
