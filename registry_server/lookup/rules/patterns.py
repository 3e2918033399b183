"""Patterns of names: a `*` stands for any number of characters, and case does not matter."""

from __future__ import annotations

from dataclasses import dataclass

#: Its objects give themselves no other name.
_CALLED_BY_KEY = "mntner"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A name to look for, cut at its asterisks."""

    pieces: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Pattern:
        """The pattern as it was asked for; keys are folded before."""
        return cls(tuple(text.lower().split("*")))

    @property
    def literal(self) -> str:
        """The longest run of characters that whatever fits must have; empty where anything fits."""
        return max(self.pieces, key=len)

    def fits(self, text: str) -> bool:
        """Whether the whole text is what the pattern says. One pass, however many asterisks."""
        text = text.lower()
        head, *between = self.pieces
        if not between:
            return text == head
        tail = between.pop()
        at, end = len(head), len(text) - len(tail)
        if end < at or not text.startswith(head) or not text.endswith(tail):
            return False
        for piece in between:
            found = text.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True


def name_of(object_class: str, key: str, title: str) -> str:
    """What an object is called: a maintainer by its key, which lists show with a description."""
    return key if object_class == _CALLED_BY_KEY or not title else title
