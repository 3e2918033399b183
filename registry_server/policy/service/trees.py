"""Judges what lies between two states of a registry's files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry_server.objects.rules.classes import key_of
from registry_server.objects.rules.paths import place, show
from registry_server.objects.rules.rows import index_rows
from registry_server.objects.schemas import FileVersion
from registry_server.policy.rules import judge
from registry_server.policy.schemas import Change, Objection
from registry_server.snapshot.rules import build
from registry_server.snapshot.schemas.content import Facts, Rows, Snapshot


def find_objections(
    before: Sequence[FileVersion], after: Sequence[FileVersion], maintainer: str | None
) -> list[Objection]:
    """What speaks against the change from one state to the other, by path."""
    return sorted(judge(_snapshot(before), _changes(before, after), maintainer))


def _changes(before: Sequence[FileVersion], after: Sequence[FileVersion]) -> Iterator[Change]:
    old, new = ({file.path: file for file in files} for files in (before, after))
    for path in sorted(old.keys() | new.keys()):
        was, is_now = old.get(path), new.get(path)
        where, _ = place(path)
        if where is None or (was and is_now and was.blob == is_now.blob):
            continue
        key = key_of(where.object_class, where.file_name)
        texts = (None if file is None else file.raw or b"" for file in (was, is_now))
        yield Change(show(path), where.object_class, key, *texts)


def _snapshot(files: Sequence[FileVersion]) -> Snapshot:
    rows = index_rows(files, 1)
    objects = sorted(rows.each_object(), key=lambda row: str(row[1]))
    return build(
        Rows(
            facts=Facts(0, None, None, None),
            objects=[(row[0], row[2], row[3], row[4], row[6], row[8], row[7]) for row in objects],
            references=[(row[0], row[2], row[3]) for row in rows.each_reference()],
            routes=[*rows.each_route()],
        )
    )
