"""Proof of an identity key, and names proposed from host names."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from shared.protocol.enrolment import NODE_ID_PATTERN, EnrolmentRequest, signed_message

_KEY_BYTES = 32


def proves_identity(request: EnrolmentRequest) -> bool:
    """Whether the signature over challenge, credential and node id is by the key in the request."""
    credential = request.token or str(request.registration_id)
    message = signed_message(request.challenge, credential, request.node_id)
    try:
        key = base64.b64decode(request.public_key, validate=True)
        signature = base64.b64decode(request.signature, validate=True)
        if len(key) != _KEY_BYTES:
            return False
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (binascii.Error, ValueError, InvalidSignature):
        return False
    return True


def fingerprint(public_key: str) -> str:
    """SHA-256 of the key as it is written, for people to compare."""
    return hashlib.sha256(public_key.encode()).hexdigest()


def proposed_node_id(wanted: str | None, hostname: str) -> str:
    """A node id for an agent that names none: the first label of its host name, made acceptable."""
    if wanted:
        return wanted
    label = re.sub(r"[^a-z0-9]+", "-", hostname.lower().split(".", 1)[0]).strip("-")[:63].strip("-")
    return label if re.fullmatch(NODE_ID_PATTERN, label) else "node"
