"""Wire shapes of peerings and links, and forms as they were typed."""

from control_server.peerings.schemas.forms import Derived, LinkForm, PeeringEditForm, PeeringForm
from control_server.peerings.schemas.recorded import RecordedPeering
from control_server.peerings.schemas.relations import (
    LinkCreate,
    LinkDocument,
    LinkList,
    LinkRead,
    LinkUpdate,
    OtherSide,
    PeeringCreate,
    PeeringDocument,
    PeeringList,
    PeeringRead,
    PeeringSecrets,
    PeeringUpdate,
    PlainFacts,
    RowId,
    SessionSeen,
    TunnelFacts,
)

__all__ = [
    "Derived",
    "LinkCreate",
    "LinkDocument",
    "LinkForm",
    "LinkList",
    "LinkRead",
    "LinkUpdate",
    "OtherSide",
    "PeeringCreate",
    "PeeringDocument",
    "PeeringEditForm",
    "PeeringForm",
    "PeeringList",
    "PeeringRead",
    "PeeringSecrets",
    "PeeringUpdate",
    "PlainFacts",
    "RecordedPeering",
    "RowId",
    "SessionSeen",
    "TunnelFacts",
]
