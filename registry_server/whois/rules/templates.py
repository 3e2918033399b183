"""What an object of a class consists of, for `-t`."""

from __future__ import annotations

from registry_server.objects.rules.classes import CLASSES
from registry_server.whois.errors import QueryRefused


def template_of(object_class: str) -> bytes:
    """The attributes that matter, with how often each stands. Raises QueryRefused."""
    found = CLASSES.get(object_class)
    if found is None:
        raise QueryRefused(f"Unknown object class: {object_class}")
    names = dict.fromkeys([found.name, *found.required, *sorted(found.single), *found.references])
    lines = []
    for name in names:
        wanted = "mandatory" if name in found.required else "optional"
        often = "single" if name in found.single else "multiple"
        kind = (
            "primary/lookup key" if name == found.key else "inverse key" if name in found.references else ""
        )
        lines.append(f"{name + ':':<20}[{wanted}]  [{often}]  [{kind}]")
    return "\n".join(lines).encode()
