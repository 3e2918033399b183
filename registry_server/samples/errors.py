"""Refusals of this feature."""

from __future__ import annotations

from shared.kernel.errors import AppError, Kind


class SampleDirectoryTaken(AppError):
    """The directory holds something else; choose an empty one or one that does not exist."""

    kind = Kind.CONFLICT
    code = "sample_directory_taken"


class SampleNotWritten(AppError):
    """Git could not write the sample."""

    kind = Kind.UNAVAILABLE
    code = "sample_not_written"
