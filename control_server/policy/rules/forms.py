"""The policy's form: lists as lines, each in the spelling that routers' people know."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from control_server.policy.schemas import PolicyForm, PolicyRead, PolicyWrite
from shared.kernel.errors import AppError, FieldError, InvalidInput

_RANGE = re.compile(r"^(?P<prefix>[0-9A-Fa-f.:]+/\d+)(?:(?P<plus>\+)|\{(?P<low>\d+),(?P<high>\d+)\})?$")
_ASNS = re.compile(r"^(?:AS)?(\d{1,10})(?:\s*-\s*(?:AS)?(\d{1,10}))?$", re.IGNORECASE)

#: Where each field stands in the document.
_PLACES: Mapping[str, tuple[str, ...]] = {
    "profile": ("policy", "profile"),
    "allowed4": ("policy", "allowed4"),
    "allowed6": ("policy", "allowed6"),
    "max_path": ("policy", "max_path"),
    "bad_asn": ("policy", "bad_asn"),
    "transit_asn": ("policy", "transit_asn"),
    "roa_mode": ("roa", "mode"),
    "rtr_servers": ("roa", "servers"),
    "bfd_interfaces": ("bfd", "interfaces"),
    "bfd_min_rx": ("bfd", "timers", "min_rx"),
    "bfd_min_tx": ("bfd", "timers", "min_tx"),
    "bfd_multiplier": ("bfd", "timers", "multiplier"),
    "igp": ("inside", "igp"),
    "ibgp": ("inside", "ibgp"),
    "reflectors": ("inside", "reflectors"),
    "inside_bfd": ("inside", "bfd"),
    "collectors": ("collectors",),
}


def policy_form_of(policy: PolicyRead) -> PolicyForm:
    """The form of the policy as it stands."""
    document = policy.model_dump(mode="json")
    texts = {name: _written(name, _at(document, place)) for name, place in _PLACES.items()}
    return PolicyForm(version=policy.version, **texts)


def policy_of(present: PolicyRead, typed: PolicyForm) -> PolicyWrite:
    """The policy with what the form changes, and nothing else. Raises InvalidInput that names each field."""
    shown = policy_form_of(present)
    document = present.model_dump(mode="json", include=set(PolicyWrite.model_fields))
    errors: list[FieldError] = []
    for name, place in _PLACES.items():
        text = getattr(typed, name)
        if text.split() == getattr(shown, name).split():
            continue
        try:
            _put(document, place, _meant(name, text.strip(), _at(document, place)))
        except ValueError as error:
            errors.append(FieldError(name, "line_refused", str(error)))
    if errors:
        raise InvalidInput(fields=errors)
    return _checked(document)


def policy_errors(refusal: AppError) -> dict[str, FieldError]:
    """What was refused, by the names of the form."""
    found = {error.field if error.field in _PLACES else "form": error for error in refusal.fields}
    return found or {"form": FieldError("form", refusal.code, refusal.detail)}


def _checked(document: dict[str, Any]) -> PolicyWrite:
    try:
        return PolicyWrite.model_validate(document)
    except ValidationError as error:
        fields = [
            FieldError(
                _field_of(item["loc"]),
                str(item["type"]),
                str(item["msg"]).removeprefix("Value error, "),
                str(item["input"]) if _is_one_of(item, _LINES) else "",
            )
            for item in error.errors(include_url=False)
        ]
        raise InvalidInput(fields=fields) from None


def _is_one_of(item: ErrorDetails, lists: Container[str]) -> bool:
    """Whether the error is about one of several values, each of which stands on a line."""
    return _field_of(item["loc"]) in lists and isinstance(item["input"], str | int)


def _field_of(location: Sequence[int | str]) -> str:
    names = tuple(str(part) for part in location)
    fits = [name for name, place in _PLACES.items() if names[: len(place)] == place]
    return fits[0] if fits else "form"


def _at(document: Any, place: Sequence[str]) -> Any:
    for name in place:
        document = document[name]
    return document


def _put(document: Any, place: Sequence[str], value: Any) -> None:
    _at(document, place[:-1])[place[-1]] = value


def _written(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if not isinstance(value, list):
        return str(value)
    return "\n".join(_LINES[name][0](entry) for entry in value)


def _meant(name: str, text: str, present: Any) -> Any:
    if name in _LINES:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not lines:
            return None if name in {"allowed4", "allowed6", "bad_asn"} else []
        return [_LINES[name][1](line, present or []) for line in lines]
    return text == "yes" if name == "inside_bfd" else text


def _range_line(entry: Mapping[str, Any]) -> str:
    network = ip_network(entry["prefix"])
    shortest, longest = entry["shortest"], entry["longest"]
    if shortest == longest == network.prefixlen:
        return str(network)
    if (shortest, longest) == (network.prefixlen, network.max_prefixlen):
        return f"{network}+"
    return f"{network}{{{shortest},{longest}}}"


def _range(line: str, _present: Any) -> dict[str, Any]:
    found = _RANGE.match(line.replace(" ", ""))
    if found is None:
        message = f"{line}: write a prefix, or one such as 172.20.0.0/14{{21,29}} or fd00::/8+"
        raise ValueError(message)
    network = ip_network(found["prefix"])
    low, high = found["low"] or network.prefixlen, found["high"] or network.prefixlen
    longest = network.max_prefixlen if found["plus"] else int(high)
    return {"prefix": str(network), "shortest": int(low), "longest": longest}


def _asn_line(entry: Mapping[str, Any]) -> str:
    first, last = entry["first"], entry["last"]
    return str(first) if first == last else f"{first}-{last}"


def _asn_range(line: str, _present: Any) -> dict[str, Any]:
    found = _ASNS.match(line)
    if found is None:
        message = f"{line}: write an AS number, or two joined by a hyphen"
        raise ValueError(message)
    return {"first": int(found[1]), "last": int(found[2] or found[1])}


def _asn(line: str, _present: Any) -> int:
    return int(_asn_range(line, ())["first"])


def _named(fields: Sequence[str], example: str) -> Callable[[str, Any], dict[str, Any]]:
    """A line of words; what it does not say stays as the member of that name has it."""

    def read(line: str, present: Any) -> dict[str, Any]:
        words = line.split()
        if len(words) != len(fields):
            message = f"{line}: write {' '.join(fields)}, such as {example}"
            raise ValueError(message)
        before: dict[str, Any] = next((entry for entry in present if entry["name"] == words[0]), {})
        return {**before, **dict(zip(fields, words, strict=True))}

    return read


def _spelled(fields: Sequence[str]) -> Callable[[Any], str]:
    def write(entry: Any) -> str:
        return " ".join(str(entry[name]) for name in fields)

    return write


_RTR = ("name", "host", "port")
_COLLECTOR = ("name", "address", "asn")
_Line = tuple[Callable[[Any], str], Callable[[str, Any], Any]]
_LINES: Mapping[str, _Line] = {
    "allowed4": (_range_line, _range),
    "allowed6": (_range_line, _range),
    "bad_asn": (_asn_line, _asn_range),
    "transit_asn": (str, _asn),
    "rtr_servers": (_spelled(_RTR), _named(_RTR, "lab rtr.example 8282")),
    "reflectors": (str, lambda line, _present: line),
    "collectors": (_spelled(_COLLECTOR), _named(_COLLECTOR, "lab fd42:9900::53 4242429902")),
}
