"""Peerings with other networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from control_server.agents.service import AgentDirectory
from control_server.audit.service import Audit
from control_server.ipam.errors import ValueTaken
from control_server.ipam.schemas import PoolKind
from control_server.ipam.service import Ipam
from control_server.nodes.errors import NodeNotFound
from control_server.nodes.schemas import RoutingFacts
from control_server.nodes.service import NodeService
from control_server.peerings import rules
from control_server.peerings.errors import NodeKeyUnknown, PeeringExists, PeeringNotFound
from control_server.peerings.models import PeeringRow
from control_server.peerings.repository import PeeringRepository
from control_server.peerings.rules.other_side import other_side
from control_server.peerings.schemas import (
    OtherSide,
    PeeringCreate,
    PeeringDocument,
    PeeringList,
    PeeringRead,
    PeeringSecrets,
    PeeringUpdate,
    TunnelFacts,
)
from control_server.policy.errors import FactChanged
from control_server.policy.service import Publisher
from shared.kernel.clock import Clock
from shared.kernel.ids import short_id
from shared.kernel.principal import Principal

ID_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Peerings:
    """Peerings as one session writes them."""

    rows: PeeringRepository
    nodes: NodeService
    agents: AgentDirectory
    ipam: Ipam
    audit: Audit
    publisher: Publisher
    now: Clock

    async def list(self, node_id: str | None = None) -> PeeringList:
        """The peerings of a node, or of all. Raises NodeNotFound."""
        if node_id is not None and await self.nodes.find(node_id) is None:
            raise NodeNotFound(f"No node is called {node_id!r}.")
        found = await self.rows.list(None if node_id is None else [node_id])
        items = [read_peering(row) for row in found]
        return PeeringList(items=items, total=len(items))

    async def get(self, ident: str) -> PeeringRead:
        """One peering. Raises PeeringNotFound."""
        return read_peering(await self._find(ident, lock=False))

    async def of_network(self, asn: int) -> Sequence[PeeringRead]:
        """Peerings of all nodes with one network."""
        return [read_peering(row) for row in await self.rows.list_of_network(asn)]

    async def offers_ports(self) -> bool:
        """Whether a pool gives out the ports of tunnels."""
        return await self.ipam.offers(PoolKind.WIREGUARD_PORT)

    async def other_side(self, ident: str) -> OtherSide:
        """What the neighbour pastes on its router. Raises PeeringNotFound."""
        peering = read_peering(await self._find(ident, lock=False))
        node = await self.nodes.find(peering.node_id)
        keys = await self.agents.keys_of(peering.node_id)
        routing = RoutingFacts.model_validate(node.routing if node else {})
        return other_side(peering, routing, keys.wireguard if keys else None)

    async def with_sealed_key(self, wanted: PeeringCreate) -> PeeringCreate:
        """The same peering with its preshared key sealed to the node, so that it may be shown to a browser.

        Raises NodeKeyUnknown.
        """
        if wanted.preshared_key is None or not isinstance(wanted.link, TunnelFacts):
            return wanted
        sealed = await self._seal(wanted.node_id, wanted.preshared_key.get_secret_value())
        link = wanted.link.model_copy(update={"preshared_key": sealed})
        return wanted.model_copy(update={"link": link, "preshared_key": None})

    async def create(self, actor: Principal, wanted: PeeringCreate) -> PeeringRead:
        """Add a peering with everything that belongs to it, or nothing.

        Raises NodeNotFound, NodeRoutesNothing, PeeringExists, InvalidInput, NodeKeyUnknown, ValueTaken or
        PoolExhausted.
        """
        routing = await self._routing_of(wanted.node_id)
        if await self.rows.find_by_name(wanted.node_id, wanted.name) is not None:
            raise PeeringExists(f"{wanted.node_id} has a peering called {wanted.name!r} already.")
        at = self.now()
        row = PeeringRow(
            id=short_id(ID_LENGTH),
            node_id=wanted.node_id,
            name=wanted.name,
            asn=wanted.asn,
            description=wanted.description,
            enabled=wanted.enabled,
            document={},
            version=1,
            created_at=at,
            updated_at=at,
        )
        document = PeeringDocument.model_validate(
            wanted.model_dump(include={"link", "session", "registry_filter"})
        )
        rules.check_ends(wanted.asn, document, routing)
        row.document = await self._completed(row, document, wanted)
        self.rows.add(row)
        read = read_peering(row)
        self.audit.note(actor, "peering.created", ("peering", row.id), after=_told(read))
        await self.publisher.publish(actor, f"peering {row.name} was added to {row.node_id}", {row.node_id})
        return read

    async def change(self, actor: Principal, ident: str, wanted: PeeringUpdate, version: int) -> PeeringRead:
        """Change what is named. Raises PeeringNotFound, FactChanged, InvalidInput and as `create`."""
        row = await self._find(ident, lock=True)
        before = read_peering(row)
        if row.version != version:
            raise FactChanged.between(before, wanted)
        patch = wanted.model_dump(include={"link", "session"}, exclude_unset=True, exclude_none=True)
        if "registry_filter" in wanted.model_fields_set:
            patch["registry_filter"] = wanted.model_dump()["registry_filter"]
        document = rules.checked(PeeringDocument, rules.merged(rules.of_kind(row.document, patch), patch))
        rules.check_ends(wanted.asn or row.asn, document, await self._routing_of(row.node_id, new=False))
        for name in ("asn", "description", "enabled"):
            if (value := getattr(wanted, name)) is not None:
                setattr(row, name, value)
        row.document = await self._completed(row, document, wanted)
        row.version += 1
        row.updated_at = self.now()
        after = read_peering(row)
        old, new = _told(before), _told(after)
        changed = [name for name in new if new[name] != old[name]]
        self.audit.note(
            actor,
            "peering.changed",
            ("peering", row.id),
            before={name: old[name] for name in changed},
            after={name: new[name] for name in changed},
        )
        await self.publisher.publish(actor, f"peering {row.name} of {row.node_id} changed", {row.node_id})
        return after

    async def delete(self, actor: Principal, ident: str) -> None:
        """Withdraw the peering and forget it. Raises PeeringNotFound."""
        row = await self._find(ident, lock=True)
        before = _told(read_peering(row))
        await self.ipam.free(_holder(row.id))
        await self.rows.remove(row)
        self.audit.note(actor, "peering.deleted", ("peering", ident), before=before)
        await self.publisher.publish(actor, f"peering {row.name} of {row.node_id} was deleted", {row.node_id})

    async def _completed(
        self, row: PeeringRow, document: PeeringDocument, secrets: PeeringSecrets
    ) -> dict[str, Any]:
        """The document with its port given out and its secrets sealed."""
        wire = document.model_dump(mode="json")
        link = document.link
        if isinstance(link, TunnelFacts):
            wire["link"]["interface"] = link.interface or rules.interface_of(row.name)
            wire["link"]["listen_port"] = await self._port(row, link)
        else:
            await self.ipam.free(_holder(row.id))
        if secrets.preshared_key is not None and isinstance(link, TunnelFacts):
            secret = secrets.preshared_key.get_secret_value()
            wire["link"]["preshared_key"] = await self._seal(row.node_id, secret)
        if secrets.password is not None:
            secret = secrets.password.get_secret_value()
            wire["session"]["options"]["password"] = await self._seal(row.node_id, secret)
        return wire

    async def _port(self, row: PeeringRow, link: TunnelFacts) -> int:
        kind, holder = PoolKind.WIREGUARD_PORT, _holder(row.id)
        if link.listen_port is not None:
            await self.ipam.claim(
                kind, str(link.listen_port), holder, scope=row.node_id, field="link.listen_port"
            )
            await self.ipam.keep_only(kind, str(link.listen_port), holder)
            return link.listen_port
        if await self.ipam.offers(kind):
            return int(await self.ipam.take(kind, holder, scope=row.node_id))
        port = rules.usual_port(row.asn)
        try:
            await self.ipam.claim(kind, str(port), holder, scope=row.node_id)
        except ValueTaken as error:
            detail = f"Port {port} is in use on {row.node_id}: write another one, or add a pool of ports."
            raise ValueTaken(detail) from error
        return port

    async def _seal(self, node_id: str, secret: str) -> str:
        keys = await self.agents.keys_of(node_id)
        if keys is None:
            raise NodeKeyUnknown
        return rules.sealed(secret, keys.sealing)

    async def _routing_of(self, node_id: str, *, new: bool = True) -> RoutingFacts:
        node = await self.nodes.find(node_id)
        if node is None:
            raise NodeNotFound(f"No node is called {node_id!r}.")
        if new:
            rules.check_routes(node.id, node.routing, node.lifecycle)
        return RoutingFacts.model_validate(node.routing)

    async def _find(self, ident: str, *, lock: bool) -> PeeringRow:
        row = await self.rows.find(ident, lock=lock)
        if row is None:
            raise PeeringNotFound
        return row


def read_peering(row: PeeringRow) -> PeeringRead:
    """A row as operators see it: of secrets only that they are there."""
    document = PeeringDocument.model_validate(row.document)
    link, session = document.link, document.session
    has_key = isinstance(link, TunnelFacts) and link.preshared_key is not None
    has_password = session.options.password is not None
    if isinstance(link, TunnelFacts):
        link = link.model_copy(update={"preshared_key": None})
    options = session.options.model_copy(update={"password": None})
    return PeeringRead(
        id=row.id,
        node_id=row.node_id,
        name=row.name,
        asn=row.asn,
        description=row.description,
        enabled=row.enabled,
        version=row.version,
        link=link,
        session=session.model_copy(update={"options": options}),
        registry_filter=document.registry_filter,
        has_preshared_key=has_key,
        has_password=has_password,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _told(peering: PeeringRead) -> dict[str, Any]:
    return peering.model_dump(mode="json", exclude={"version", "created_at", "updated_at"})


def _holder(ident: str) -> str:
    return f"peering:{ident}"
