"""The declarative base of this service's tables."""

from sqlalchemy.orm import DeclarativeBase

from shared.database import ANNOTATIONS, new_metadata


class Base(DeclarativeBase):
    """Every table of registry_server."""

    metadata = new_metadata()
    type_annotation_map = ANNOTATIONS
