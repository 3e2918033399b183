"""`make bench` runs every tests/benchmarks/bench_*.py in its own interpreter, or only the named ones."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    wanted = sys.argv[1:]
    names = sorted(path.stem for path in HERE.glob("bench_*.py"))
    chosen = [name for name in names if not wanted or name.removeprefix("bench_") in wanted]
    failed = []
    for name in chosen:
        print(f"# {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], check=False).returncode != 0:
            failed.append(name)
    if failed or not chosen:
        sys.stderr.write(f"failed: {', '.join(failed)}\n" if failed else "there is no such benchmark\n")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
