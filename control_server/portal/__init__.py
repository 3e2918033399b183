"""Pages that join several features."""

from __future__ import annotations

from fastapi import APIRouter


def routers() -> list[APIRouter]:
    """Every router of the portal's pages."""
    return []
