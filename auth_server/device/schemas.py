"""What is put to the person, and what the device is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: The JSON object of a device authorization response.
Begun = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeviceQuestion:
    """What the person is to confirm: whose device, which code, and what it gets."""

    client_id: str
    client_name: str
    user_code: str
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Agreed:
    """What a person gives a device."""

    client_id: str
    scopes: tuple[str, ...]
