"""From files to the rows that are stored for them."""

from __future__ import annotations

from collections.abc import Iterable

from registry_server.objects.rules.classes import fold
from registry_server.objects.rules.paths import FILTERS, place, read_usual, show
from registry_server.objects.rules.plain import read_plain
from registry_server.objects.rules.reading import read_object
from registry_server.objects.rules.search import as_stored, searched_text
from registry_server.objects.rules.shapes import TARGETS
from registry_server.objects.schemas import (
    FileVersion,
    IndexRows,
    ObjectPath,
    Prefix,
    Problem,
    ProblemCode,
    RegistryObject,
)

_EXECUTABLE = "100755"


def index_rows(files: Iterable[FileVersion], first_id: int) -> IndexRows:
    """Everything to store for the files, objects numbered from `first_id` on."""
    rows = IndexRows()
    for file in files:
        ident = first_id + rows.count
        if not _store_plain(rows, file, ident):
            _store_judged(rows, file, ident)
    return rows


def _store_plain(rows: IndexRows, file: FileVersion, ident: int) -> bool:
    """Store an object that nothing is wrong with; False, and nothing stored, where that is not certain."""
    path, mode, blob, raw, _ = file
    usual = read_usual(path) if mode != _EXECUTABLE else None
    if usual is None or raw is None:
        return False
    text, object_class, file_name = usual
    found = read_plain(object_class, file_name, raw)
    if found is None:
        return False
    key, shape, values, (asn, network, routes), named = found
    # The file's name is that of the key, so it holds no blank but this one.
    folded = key.replace(" ", "").lower()
    rows.count += 1
    if asn is None:
        rows.plain += (ident, text, object_class, key, folded, blob, raw)
    else:
        rows.objects += (ident, text, object_class, key, folded, blob, raw, True, asn)
    references, position = rows.references, 0
    for (attribute, where, classes), pairs in zip(shape.references, named, strict=True):
        for target, shown in pairs:
            references += (ident, position, attribute, target, shown, where + 1, classes)
            position += 1
    if routes or network is not None:
        _store_blocks(rows, ident, network, routes)
    title = "" if shape.title is None else values[shape.title]
    title, body = as_stored(title, folded, shape.searching(values))
    rows.texts += (ident, title, body)
    return True


def _store_judged(rows: IndexRows, file: FileVersion, ident: int) -> None:
    """Store whatever the file is, and all that is wrong with it."""
    where, problem = place(file.path)
    problems = [found for found in (problem, file.problem) if found]
    if file.mode == _EXECUTABLE and where is not None:
        problems.append(Problem(ProblemCode.EXECUTABLE, None, "the file is marked as a program"))
    if where is not None and file.raw is not None:
        problems = _store_object(rows, file, where, tuple(problems), ident)
    path = show(file.path)
    if file.path in FILTERS and file.raw is not None:
        rows.filters += (path, file.raw)
    for position, found in enumerate(problems):
        rows.problems += (path, position, found.code.value, found.severity.value, found.line, found.detail)


def _store_object(
    rows: IndexRows, file: FileVersion, where: ObjectPath, known: tuple[Problem, ...], ident: int
) -> list[Problem]:
    raw = file.raw or b""
    found = read_object(where, raw, known)
    indexed = found.indexed
    folded = fold(found.key)
    path, object_class = show(file.path), found.object_class
    rows.count += 1
    if indexed and found.asn is None:
        rows.plain += (ident, path, object_class, found.key, folded, file.blob, raw)
    else:
        rows.objects += (ident, path, object_class, found.key, folded, file.blob, raw, indexed, found.asn)
    # What has an error is found by its key alone.
    rows.texts += (ident, *searched_text(object_class, folded, found.lines if indexed else ()))
    if indexed:
        _derive(rows, found, ident)
    return list(found.problems)


def _derive(rows: IndexRows, found: RegistryObject, ident: int) -> None:
    classes = TARGETS[found.object_class]
    for position, (attribute, target, shown, line) in enumerate(found.references):
        rows.references += (ident, position, attribute, target, shown, line, classes[attribute])
    _store_blocks(rows, ident, found.network, found.routes)


def _store_blocks(
    rows: IndexRows, ident: int, network: Prefix | None, routes: Iterable[tuple[Prefix, int, int | None]]
) -> None:
    for prefix, origin, max_length in routes:
        family, first, last, length, text = prefix
        rows.routes += (ident, origin, family, first, last, length, text, max_length)
    if network is not None:
        rows.networks += (ident, *network)
