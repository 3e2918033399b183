"""`make bench` runs every tests/benchmarks/bench_*.py in its own interpreter, or only the named ones."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    wanted = sys.argv[1:]
    names = sorted(path.stem for path in HERE.glob("bench_*.py"))
    chosen = [name for name in names if not wanted or _is_meant(name.removeprefix("bench_"), wanted)]
    failed = []
    for name in chosen:
        print(f"# {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], check=False).returncode != 0:
            failed.append(name)
    if failed or not chosen:
        sys.stderr.write(f"failed: {', '.join(failed)}\n" if failed else "there is no such benchmark\n")
    return 1 if failed or not chosen else 0


def _is_meant(name: str, wanted: list[str]) -> bool:
    """A word names one benchmark, or all parts of a subject: `registry` also means `registry_whois`."""
    return any(name == word or name.startswith(f"{word}_") for word in wanted)


if __name__ == "__main__":
    sys.exit(main())
