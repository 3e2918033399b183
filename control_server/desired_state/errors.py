"""Refusals about previews."""

from __future__ import annotations

from typing import ClassVar

from shared.kernel.errors import NotFound


class PreviewNotFound(NotFound):
    """There is no preview with this id: it was closed, has expired or was lost. Render it again."""

    code: ClassVar[str] = "preview_not_found"


class PreviewFileNotFound(NotFound):
    """The preview holds no file of this path."""

    code: ClassVar[str] = "preview_file_not_found"
