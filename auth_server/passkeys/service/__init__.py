"""What people do with passkeys and recovery codes, by use case."""

from auth_server.passkeys.service.assertions import Assertions
from auth_server.passkeys.service.ground import Ground, Visitor, Work
from auth_server.passkeys.service.hashing import SlowHashes
from auth_server.passkeys.service.keyring import Keyring
from auth_server.passkeys.service.recovery import Recovery
from auth_server.passkeys.service.registrations import Registrations

__all__ = [
    "Assertions",
    "Ground",
    "Keyring",
    "Recovery",
    "Registrations",
    "SlowHashes",
    "Visitor",
    "Work",
]
