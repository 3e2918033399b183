"""The registry's commits, in the order of its first-parent line, and the files that each changed."""

from __future__ import annotations

from sqlalchemy.orm import Mapped, mapped_column

from registry_server.tables import Base


class CommitRow(Base):
    """One commit. Ordered by `position`, never by date: dates of a registry do not rise."""

    __tablename__ = "commits"

    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    commit: Mapped[str] = mapped_column(unique=True)
    author: Mapped[str]
    #: Seconds since 1970, as git has them.
    authored: Mapped[int]
    summary: Mapped[str]


class ChangeRow(Base):
    """What one commit did to one file; without a blob the file was not there."""

    __tablename__ = "object_changes"
    __table_args__ = ({"sqlite_with_rowid": False},)

    path: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    before: Mapped[str | None]
    after: Mapped[str | None]
    #: Where the same text went to or came from, within the same commit.
    moved: Mapped[str | None]
