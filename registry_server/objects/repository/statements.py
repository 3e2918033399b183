"""The statements of a sync, built once: to build and compare them anew would cost a small sync a quarter."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BindParameter, Table, bindparam, delete, exists, func, not_, select, update

from registry_server.objects.models import (
    FilterRow,
    NetworkRow,
    ObjectRow,
    ProblemRow,
    ReferenceRow,
    RouteRow,
    TextRow,
)
from registry_server.tables import Base


def _table(model: type[Base]) -> Table:
    return Base.metadata.tables[model.__tablename__]


_OBJECTS, _REFERENCES, _ROUTES = _table(ObjectRow), _table(ReferenceRow), _table(RouteRow)
_NETWORKS, _TEXTS, _PROBLEMS = _table(NetworkRow), _table(TextRow), _table(ProblemRow)
_FILTERS = _table(FilterRow)
TABLES = (_OBJECTS, _REFERENCES, _ROUTES, _NETWORKS, _TEXTS, _PROBLEMS, _FILTERS)
_AMONG_PATHS: BindParameter[Any] = bindparam("paths", expanding=True)
_AMONG_IDENTS: BindParameter[Any] = bindparam("idents", expanding=True)

HIGHEST_ID = select(func.max(_OBJECTS.c.id))
REMOVE_OBJECTS = (
    delete(_OBJECTS)
    .where(_OBJECTS.c.path.in_(_AMONG_PATHS))
    .returning(_OBJECTS.c.id, _OBJECTS.c.folded, _OBJECTS.c.object_class)
)
REMOVE_PROBLEMS = delete(_PROBLEMS).where(_PROBLEMS.c.path.in_(_AMONG_PATHS)).returning(_PROBLEMS.c.code)
REMOVE_FILTERS = delete(_FILTERS).where(_FILTERS.c.path.in_(_AMONG_PATHS))
REMOVE_REFERENCES = delete(_REFERENCES).where(_REFERENCES.c.object_id.in_(_AMONG_IDENTS))
REMOVE_TEXTS = delete(_TEXTS).where(_TEXTS.c.object_id.in_(_AMONG_IDENTS))
REMOVE_NETWORKS = delete(_NETWORKS).where(_NETWORKS.c.object_id.in_(_AMONG_IDENTS))
REMOVE_ROUTES = delete(_ROUTES).where(_ROUTES.c.object_id.in_(_AMONG_IDENTS)).returning(_ROUTES.c.family)

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
#: Of the objects from `first_id` on, and of whatever names one of the keys.
MARK_AMONG = (
    update(_REFERENCES)
    .where(
        (_REFERENCES.c.object_id >= bindparam("first_id"))
        | _REFERENCES.c.target.in_(bindparam("keys", expanding=True)),
        _REFERENCES.c.dangling == _ANSWERED,
    )
    .values(dangling=not_(_REFERENCES.c.dangling))
)
COUNT_DANGLING = select(func.count()).select_from(_REFERENCES).where(_REFERENCES.c.dangling)
