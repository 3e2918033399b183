"""Lock requirements/*.in: exact versions and hashes for every platform, and no word of their origin."""

import sys

from setup.steps import ROOT, VENV, ProgramFailed, SetupFailed, alone, complain, run, say

FOLDER = ROOT / "requirements"


def lock(name: str, options: list[str]) -> None:
    say(f"locking requirements/{name}.txt")
    target = ["--output-file", f"requirements/{name}.txt", f"requirements/{name}.in"]
    fixed = ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-header", "--quiet"]
    try:
        run([VENV / "bin" / "uv", "pip", "compile", *fixed, *options, *target])
    except ProgramFailed as failure:
        raise SetupFailed(f"requirements/{name}.in has no solution: {failure.output.strip()}") from failure


def main() -> int:
    # The others are constrained by what the product itself runs with.
    names = sorted((path.stem for path in FOLDER.glob("*.in")), key=lambda name: (name != "main", name))
    try:
        with alone():
            for name in names:
                lock(name, sys.argv[1:])
    except SetupFailed as failure:
        complain(str(failure))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
