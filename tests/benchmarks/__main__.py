"""`make bench` runs every tests/benchmarks/bench_*.py in its own interpreter, or only the named ones.

With `--record`, what they print also goes into docs/reference/benchmarks.md.
"""

import subprocess
import sys
from pathlib import Path

from tests.benchmarks.page import record

HERE = Path(__file__).parent
_RECORD = "--record"
#: The status of one that ran and missed its goal, which is recorded like any other.
_MISSED = 1


def main() -> int:
    wanted = [word for word in sys.argv[1:] if word != _RECORD]
    names = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    chosen = [name for name in names if not wanted or _is_meant(name, wanted)]
    failed = []
    for name in chosen:
        print(f"# bench_{name}", flush=True)
        status, printed = _run(name)
        if status != 0:
            failed.append(name)
        if _RECORD in sys.argv and status in {0, _MISSED}:
            record(name, printed)
    if failed or not chosen:
        sys.stderr.write(f"failed: {', '.join(failed)}\n" if failed else "there is no such benchmark\n")
    return 1 if failed or not chosen else 0


def _run(name: str) -> tuple[int, str]:
    """Its status, and what it printed, which is shown as it comes."""
    command = [sys.executable, "-u", "-m", f"tests.benchmarks.bench_{name}"]
    printed = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            printed.append(line)
    return process.returncode, "".join(printed)


def _is_meant(name: str, wanted: list[str]) -> bool:
    """A word names one benchmark, or all parts of a subject: `registry` also means `registry_whois`."""
    return any(name == word or name.startswith(f"{word}_") for word in wanted)


if __name__ == "__main__":
    sys.exit(main())
