"""A snapshot of some files, without a database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from registry_server.objects.rules.rows import index_rows
from registry_server.objects.schemas import FileVersion, rows_of
from registry_server.snapshot.rules import build
from registry_server.snapshot.schemas.content import Facts, Rows, Snapshot
from tests.integration.registry.upstream import Content

AT = datetime(2030, 1, 1, tzinfo=UTC)


def snapshot_of(files: Mapping[str | bytes, Content], version: int = 1) -> Snapshot:
    versions = [
        FileVersion(path.encode() if isinstance(path, str) else path, "100644", "", raw)
        for path, raw in files.items()
        if isinstance(raw, bytes)
    ]
    rows = index_rows(versions, 1)
    objects = sorted(rows.each_object(), key=lambda row: str(row[1]))
    return build(
        Rows(
            facts=Facts(version, "0123456789abcdef", AT, AT),
            objects=[(row[0], row[2], row[3], row[4], row[6], row[8], row[7]) for row in objects],
            references=[(row[0], row[2], row[3]) for row in rows.each_reference()],
            routes=[*rows.each_route()],
            filters=dict(rows_of(rows.filters, 2)),
        )
    )
