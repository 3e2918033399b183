"""The statements of a sync, built once: to build and compare them anew would cost a small sync a quarter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Table, bindparam, delete, exists, func, not_, select, text, update

from registry_server.objects.models import (
    FilterRow,
    NetworkRow,
    ObjectRow,
    ProblemRow,
    ReferenceRow,
    RouteRow,
    TextRow,
)
from registry_server.tables import Base, Statement, among, insertion, once_for_each_database, prepare

if TYPE_CHECKING:
    from sqlalchemy import Delete, Dialect, Executable, Update
    from sqlalchemy.orm import DeclarativeBase


def _table(model: type[Base]) -> Table:
    return Base.metadata.tables[model.__tablename__]


_OBJECTS, _REFERENCES, _ROUTES = _table(ObjectRow), _table(ReferenceRow), _table(RouteRow)
_NETWORKS, _TEXTS, _PROBLEMS = _table(NetworkRow), _table(TextRow), _table(ProblemRow)
_FILTERS = _table(FilterRow)
MODELS = (ObjectRow, ReferenceRow, RouteRow, NetworkRow, TextRow, ProblemRow, FilterRow)
TABLES = tuple(map(_table, MODELS))
#: Takes what was named, and with which classes.
MARK_DANGLING = (
    update(_REFERENCES)
    .where(_REFERENCES.c.target == bindparam("named"), _REFERENCES.c.classes == bindparam("of"))
    .values(dangling=True)
)
#: An object of those classes has the key.
_ANSWERED = exists().where(
    _OBJECTS.c.folded == _REFERENCES.c.target,
    (" " + _REFERENCES.c.classes + " ").like("% " + _OBJECTS.c.object_class + " %"),
)
#: In the words of the index that holds just these: SQLite sees by them alone that it may use it.
COUNT_DANGLING = select(func.count()).select_from(_REFERENCES).where(text("dangling"))


@dataclass(frozen=True, slots=True)
class Changes:
    """What a sync of a few files does, as one database takes it."""

    highest_id: Statement
    remove_objects: Statement
    remove_references: Statement
    remove_texts: Statement
    remove_networks: Statement
    remove_routes: Statement
    remove_problems: Statement
    remove_filters: Statement
    mark_among: Statement
    insertions: Mapping[type[DeclarativeBase], Statement]


@once_for_each_database
def changes_on(dialect: Dialect) -> Changes:
    """Compile them."""

    def of(statement: Executable) -> Statement:
        return prepare(statement, dialect)

    def derived(table: Table) -> Delete:
        return delete(table).where(among(table.c.object_id, "idents", dialect))

    def of_paths(table: Table) -> Delete:
        return delete(table).where(among(table.c.path, "paths", dialect))

    return Changes(
        highest_id=of(select(func.max(_OBJECTS.c.id))),
        remove_objects=of(
            of_paths(_OBJECTS).returning(_OBJECTS.c.id, _OBJECTS.c.folded, _OBJECTS.c.object_class)
        ),
        remove_references=of(derived(_REFERENCES).returning(_REFERENCES.c.dangling)),
        remove_texts=of(derived(_TEXTS)),
        remove_networks=of(derived(_NETWORKS)),
        remove_routes=of(derived(_ROUTES).returning(_ROUTES.c.family)),
        remove_problems=of(of_paths(_PROBLEMS).returning(_PROBLEMS.c.code)),
        remove_filters=of(of_paths(_FILTERS)),
        mark_among=of(_mark_among(dialect)),
        insertions={model: insertion(_table(model), dialect) for model in MODELS},
    )


def _mark_among(dialect: Dialect) -> Update:
    """Of the objects from `first_id` on, and of whatever names one of the keys: those that have changed."""
    of_new = _REFERENCES.c.object_id >= bindparam("first_id", type_=BigInteger())
    return (
        update(_REFERENCES)
        .where(of_new | among(_REFERENCES.c.target, "keys", dialect), _REFERENCES.c.dangling == _ANSWERED)
        .values(dangling=not_(_REFERENCES.c.dangling))
        .returning(_REFERENCES.c.dangling)
    )
