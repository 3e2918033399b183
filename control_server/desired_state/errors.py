"""Refusals about previews."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import AppError, Kind, NotFound


class PreviewNotFound(NotFound):
    """There is no preview with this id: it was closed, has expired or was lost. Render it again."""

    code: ClassVar[str] = "preview_not_found"


class PreviewFileNotFound(NotFound):
    """The preview holds no file of this path."""

    code: ClassVar[str] = "preview_file_not_found"


class StateInvalid(AppError):
    """These facts give no state that the node could run."""

    kind: ClassVar[Kind] = Kind.INVALID
    code: ClassVar[str] = "state_invalid"


class GenerationNotFound(AppError):
    """The node has no such generation."""

    kind: ClassVar[Kind] = Kind.MISSING
    code: ClassVar[str] = "generation_not_found"


class NothingPublished(AppError):
    """Nothing is published for this node yet."""

    kind: ClassVar[Kind] = Kind.MISSING
    code: ClassVar[str] = "nothing_published"
