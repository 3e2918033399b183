"""Where an object stands, or stood: the history goes by paths, so it outlives objects."""

from __future__ import annotations

from registry_server.objects.rules.classes import directory_of, file_name_of
from registry_server.objects.rules.paths import show


def path_of(object_class: str, key: str) -> str:
    """The path that a class and a key ask for, in the form that is stored."""
    directory = directory_of(object_class.lower())
    return show(f"data/{directory}/{file_name_of(key)}".encode())
