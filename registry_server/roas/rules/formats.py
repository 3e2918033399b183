"""ROAs as the files that validators and routers read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from registry_server.roas.schemas import Roa

#: A copy that is older than this is no longer good, by the rule of those who read the metadata.
_VALID_FOR = timedelta(hours=24)


def bird(roas: Iterable[Roa], family: int) -> bytes:
    """Routes for BIRD 2's `protocol static` with a `roa4` or `roa6` table, to be included by one line."""
    lines = (
        f"route {roa.prefix} max {roa.max_length} as {roa.origin};\n" for roa in roas if roa.family == family
    )
    return "".join(lines).encode()


def openbgpd(roas: Sequence[Roa]) -> bytes:
    """A `roa-set` for OpenBGPD."""
    lines = (f"\t{roa.prefix} maxlen {roa.max_length} source-as {roa.origin}\n" for roa in roas)
    return f"roa-set {{\n{''.join(lines)}}}\n".encode()


def json_rows(roas: Iterable[Roa], authority: str) -> bytes:
    """The list of ROAs as JSON: what stays the same as long as they do."""
    rows = [
        {"prefix": roa.prefix, "maxLength": roa.max_length, "asn": f"AS{roa.origin}", "ta": authority}
        for roa in roas
    ]
    return json.dumps(rows, separators=(",", ":")).encode()


def json_document(rows: bytes, count: int, checked_at: datetime) -> bytes:
    """The whole document. `generated` is when upstream last had nothing newer, not when something changed."""
    at = int(checked_at.timestamp())
    metadata = {"counts": count, "generated": at, "valid": at + int(_VALID_FOR.total_seconds())}
    return b'{"metadata":%s,"roas":%s}\n' % (json.dumps(metadata, separators=(",", ":")).encode(), rows)
