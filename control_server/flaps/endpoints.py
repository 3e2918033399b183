"""JSON routes of flaps."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Query, status
from fastapi.responses import StreamingResponse

from control_server.flaps.dependencies import Exports, FlapReader, Flaps, FlapWriter, Muting
from control_server.flaps.schemas import (
    FlapExplanation,
    FlapOverview,
    FlapRead,
    FlapTable,
    MuteQuery,
    RatePoint,
    SubjectKind,
    TransitionRead,
)
from control_server.nodes.schemas import NodeId
from shared.web.routing import Router

router = Router(prefix="/api/v1/flaps", tags=["flaps"])

Limit = Annotated[int, Query(ge=1, le=1000)]
Name = Annotated[str, Query(min_length=1, max_length=128)]


@router.get("")
async def list_flaps(
    _reader: FlapReader, flaps: Flaps, kind: Annotated[SubjectKind | None, Query()] = None
) -> FlapOverview:
    """Everything that has a score, the highest first."""
    return await flaps.overview(kind)


@router.get("/transitions")
async def list_transitions(
    _reader: FlapReader,
    flaps: Flaps,
    node_id: Annotated[NodeId | None, Query()] = None,
    session: Annotated[str | None, Query(max_length=128)] = None,
    limit: Limit = 100,
) -> list[TransitionRead]:
    """What happened, the latest first."""
    return await flaps.transitions(node_id, session, limit)


@router.get("/export", response_class=StreamingResponse)
async def export_flaps(
    _reader: FlapReader,
    exports: Exports,
    table: Annotated[FlapTable, Query()] = FlapTable.SESSIONS,
    above: Annotated[int, Query(ge=0, le=12_000, description="Only higher scores")] = 0,
) -> StreamingResponse:
    """Scores of sessions or prefixes, or everything that happened, as comma-separated values."""
    return StreamingResponse(
        exports.stream_lines(table, above),
        media_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="flaps-{table}.csv"',
            "Cache-Control": "no-store",
        },
    )


@router.get("/{node_id}")
async def list_flaps_of_node(_reader: FlapReader, node_id: NodeId, flaps: Flaps) -> list[FlapRead]:
    """Every session of a node with its score, and its restless prefixes."""
    return await flaps.node(node_id)


@router.get("/{node_id}/session")
async def explain_session(_reader: FlapReader, node_id: NodeId, flaps: Flaps, name: Name) -> FlapExplanation:
    """Why a session's score is what it is, and when it clears."""
    return await flaps.session(node_id, name)


@router.get("/{node_id}/prefix")
async def explain_prefix(
    _reader: FlapReader, node_id: NodeId, flaps: Flaps, prefix: Annotated[str, Query(max_length=64)]
) -> FlapExplanation:
    """Why a prefix's score is what it is, and when it clears."""
    return await flaps.prefix(node_id, prefix)


@router.get("/{node_id}/whole")
async def explain_node(_reader: FlapReader, node_id: NodeId, flaps: Flaps) -> FlapExplanation:
    """Why the score of the node itself is what it is, and when it clears."""
    return await flaps.whole_node(node_id)


@router.get("/{node_id}/rates")
async def list_rates(
    _reader: FlapReader, node_id: NodeId, flaps: Flaps, hours: Annotated[int, Query(ge=1, le=168)] = 24
) -> list[RatePoint]:
    """Prefix updates in buckets of five minutes. One that is missing was not measured; it is not zero."""
    return await flaps.rates(node_id, flaps.now() - timedelta(hours=hours))


@router.put("/{node_id}/mute")
async def mute_flap(
    writer: FlapWriter, node_id: NodeId, muting: Muting, wanted: Annotated[MuteQuery, Query()]
) -> FlapRead:
    """Mute a session, a prefix or the node itself until it clears: its incident is not counted meanwhile."""
    return await muting.mute(writer, node_id, wanted)


@router.delete("/{node_id}/mute", status_code=status.HTTP_204_NO_CONTENT)
async def unmute_flap(
    writer: FlapWriter, node_id: NodeId, muting: Muting, wanted: Annotated[MuteQuery, Query()]
) -> None:
    """Lift a mute before it ends by itself; where there is none, nothing happens."""
    await muting.unmute(writer, node_id, wanted)
