"""What a look at something found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How much a finding matters."""

    GOOD = "good"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; where it is not good with a remedy, a command if one mends it."""

    check: str
    grade: Grade
    text: str
    remedy: str = ""

    def as_dict(self) -> dict[str, str]:
        """For `--json`."""
        return {
            "check": self.check,
            "grade": self.grade.value,
            "text": self.text,
            "remedy": self.remedy,
        }


def good(check: str, text: str) -> Finding:
    """Nothing to do."""
    return Finding(check, Grade.GOOD, text)


def note(check: str, text: str, remedy: str = "") -> Finding:
    """Worth knowing; nothing is broken."""
    return Finding(check, Grade.NOTE, text, remedy)


def problem(check: str, text: str, remedy: str) -> Finding:
    """Has to be mended."""
    return Finding(check, Grade.PROBLEM, text, remedy)
