"""`python -m routeloom.reference` writes every generated page; `--check` only says which are stale."""

from __future__ import annotations

import sys

from routeloom.reference.pages import DIRECTORY, generated


def main() -> int:
    """Write, or compare; the exit status is 1 when a page was stale under `--check`."""
    check_only = "--check" in sys.argv[1:]
    stale = []
    for name, text in generated().items():
        path = DIRECTORY / name
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check_only:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for name in stale:
        print(f"{'stale' if check_only else 'written'}: docs/reference/{name}")  # noqa: T201 - a command
    return 1 if stale and check_only else 0


if __name__ == "__main__":
    sys.exit(main())
