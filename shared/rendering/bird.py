"""The BIRD configuration of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from shared.protocol.desired_state.document import DesiredState
from shared.protocol.desired_state.peerings import Peering
from shared.rendering import profiles, words
from shared.rendering.bundle import MAIN, Bundle, Unsupported, digest_of
from shared.rendering.versions import BirdVersion

#: Where operators keep their own configuration, included last and never touched.
LOCAL_DIRECTORY = "/etc/bird/local"
#: Stands where a secret would, when it is not at hand. No password may look like it.
SEALED = "(sealed)"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What only the node knows, or the reader of a preview assumes."""

    version: BirdVersion
    local_directory: str = LOCAL_DIRECTORY
    #: Digest of the operators' own files, so that an edit there is seen.
    local_digest: str = ""
    #: Opened secrets by their place, such as `peerings.f.password`.
    secrets: Mapping[str, str] = field(default_factory=dict)


def render(state: DesiredState, generation: int, around: Surroundings) -> Bundle:
    """All files of one generation. The same input gives the same bytes."""
    secrets = _Secrets(around.secrets)
    parts = _Parts(_environment(), state, around, secrets)
    files = {name: parts.render(name) for name in _NODE_FILES}
    if state.routing:
        for peering in state.peerings:
            files[f"peers/{peering.name}.conf"] = parts.render_peering(peering)
        files |= {name: parts.render(name) for name in _ROUTING_FILES}
    identity = f"{generation}-{digest_of(files)}"
    main = parts.render(MAIN, identity=identity, files=sorted(files))
    return Bundle(
        identity, {MAIN: main, **files}, tuple(_unsupported(state, around.version)), tuple(secrets.missing)
    )


_NODE_FILES = ("00-node.conf",)
_ROUTING_FILES = (
    "10-roa.conf",
    "20-policy.conf",
    "30-igp.conf",
    "40-ibgp.conf",
    "50-ebgp.conf",
    "60-collectors.conf",
)


class _Secrets:
    """Hands out what is at hand and remembers what is not."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = known
        self.missing: list[str] = []

    def __call__(self, place: str) -> str:
        found = self._known.get(place)
        if found is None:
            self.missing.append(place)
            return SEALED
        return found


@dataclass(frozen=True, slots=True)
class _Parts:
    environment: Environment
    state: DesiredState
    around: Surroundings
    secret: _Secrets

    def render(self, name: str, **more: Any) -> str:
        return self._fill(name, more)

    def render_peering(self, peering: Peering) -> str:
        session = peering.session
        families = tuple(sorted(session.families))
        groups = [families] if session.mode == "multiprotocol" else [(family,) for family in families]
        return self._fill("peer.conf", {"peering": peering, "session": session, "groups": groups})

    def _fill(self, name: str, more: Mapping[str, Any]) -> str:
        template = self.environment.get_template(f"{name}.j2")
        return template.render(
            state=self.state,
            node=self.state.node,
            version=self.around.version,
            around=self.around,
            secret=self.secret,
            allowed=profiles.allowed(self.state.policy, 4) + profiles.allowed(self.state.policy, 6),
            bad_asns=profiles.refused_asns(self.state.policy),
            bogons=(*profiles.BOGONS_4, *profiles.BOGONS_6),
            **more,
        )


@cache
def _environment() -> Environment:
    # A configuration file is no markup: the schema refuses what could leave a string.
    environment = Environment(
        loader=PackageLoader("shared.rendering", "templates/bird"),
        autoescape=False,  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        on_off=words.on_off,
        yes_no=words.yes_no,
        prefix_set=words.prefix_set,
        own_set=words.own_set,
        asn_set=words.asn_set,
        quoted=words.quoted,
    )
    environment.tests.update(address=words.is_address)
    return environment


def _unsupported(state: DesiredState, version: BirdVersion) -> list[Unsupported]:
    found = []
    for peering in state.peerings:
        place = f"peerings.{peering.name}.session"
        if peering.session.options.send_hold is not None and not version.sends_hold:
            found.append(Unsupported(f"{place}.options.send_hold", "BIRD 2.15"))
        if peering.session.require_extended_next_hop and not version.requires_capabilities:
            found.append(Unsupported(f"{place}.require_extended_next_hop", "BIRD 2.15"))
    return found
