"""The index of the registry: objects with their text, and what is derived from them.

Rows of an object are written and removed together by its id, so no foreign keys: their checks would cost more
than the whole load.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Index, Integer, LargeBinary, text
from sqlalchemy.orm import Mapped, mapped_column

from registry_server.tables import Base, trigrams

#: On SQLite the row's own number, which spares an index.
_ROW_ID = BigInteger().with_variant(Integer(), "sqlite")


class ObjectRow(Base):
    """One file of the registry, its text byte for byte."""

    __tablename__ = "objects"
    __table_args__ = (
        Index("ix_objects_folded_class", "folded", "object_class"),
        Index(
            "ix_objects_asn",
            "asn",
            sqlite_where=text("asn IS NOT NULL"),
            postgresql_where=text("asn IS NOT NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(_ROW_ID, primary_key=True, autoincrement=False)
    path: Mapped[str] = mapped_column(unique=True)
    object_class: Mapped[str]
    #: The primary key as written; found by its folded form.
    key: Mapped[str]
    folded: Mapped[str]
    blob: Mapped[str]
    raw: Mapped[bytes] = mapped_column(LargeBinary)
    #: False for an object with an error: served as text, and nothing is derived from it.
    indexed: Mapped[bool]
    #: 32 bits unsigned, so never a signed 32-bit column.
    asn: Mapped[int | None] = mapped_column(BigInteger)


class ReferenceRow(Base):
    """One object names another."""

    __tablename__ = "object_references"
    __table_args__ = (
        Index("ix_object_references_target_attribute", "target", "attribute"),
        Index(
            "ix_object_references_dangling",
            "dangling",
            sqlite_where=text("dangling"),
            postgresql_where=text("dangling"),
        ),
        {"sqlite_with_rowid": False},
    )

    object_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    attribute: Mapped[str]
    target: Mapped[str]
    shown: Mapped[str]
    line: Mapped[int]
    #: Classes that the attribute may name, separated by blanks.
    classes: Mapped[str]
    #: No object of those classes has the key.
    dangling: Mapped[bool]


class RouteRow(Base):
    """One prefix that one AS may originate; addresses packed, so that both databases compare them alike."""

    __tablename__ = "routes"
    __table_args__ = (
        Index("ix_routes_origin_prefix", "origin", "family", "first", "length"),
        Index("ix_routes_range", "family", "first", "last"),
        {"sqlite_with_rowid": False},
    )

    object_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    origin: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    family: Mapped[int]
    first: Mapped[bytes] = mapped_column(LargeBinary)
    last: Mapped[bytes] = mapped_column(LargeBinary)
    length: Mapped[int]
    prefix: Mapped[str]
    max_length: Mapped[int | None]


class NetworkRow(Base):
    """The address block of an inetnum or inet6num, packed as those of routes are."""

    __tablename__ = "networks"
    __table_args__ = (Index("ix_networks_range", "family", "first", "last"),)

    object_id: Mapped[int] = mapped_column(_ROW_ID, primary_key=True, autoincrement=False)
    family: Mapped[int]
    first: Mapped[bytes] = mapped_column(LargeBinary)
    last: Mapped[bytes] = mapped_column(LargeBinary)
    length: Mapped[int]
    prefix: Mapped[str]


class TextRow(Base):
    """What people search an object by, in small letters: its key and its values, but no proofs."""

    __tablename__ = "object_texts"
    __table_args__ = (trigrams("ix_object_texts_body_trigrams", "body"),)

    object_id: Mapped[int] = mapped_column(_ROW_ID, primary_key=True, autoincrement=False)
    #: The name that a list shows beside the key, as written.
    title: Mapped[str]
    body: Mapped[str]


class FilterRow(Base):
    """One of the files that say which prefixes may have a ROA, byte for byte."""

    __tablename__ = "filter_files"

    path: Mapped[str] = mapped_column(primary_key=True)
    raw: Mapped[bytes] = mapped_column(LargeBinary)


class ProblemRow(Base):
    """Something wrong with a file, whether or not the file is an object."""

    __tablename__ = "problems"
    __table_args__ = (Index("ix_problems_code", "code"), {"sqlite_with_rowid": False})

    path: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    code: Mapped[str]
    severity: Mapped[str]
    line: Mapped[int | None]
    detail: Mapped[str]
