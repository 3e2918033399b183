"""`python -m tests.conformance.auth.table` runs every row and writes docs/reference/oauth-conformance.md.

Arguments are handed to pytest, so that a part can be run again. Outcomes are kept between runs, a later one
of a test in place of an earlier one, and the page is written once none of ours is a failure.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conformance.auth.rows import HERE, PEER, RECORDER, all_rows

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "oauth-conformance.md"
KEPT = Path(__file__).parents[3] / "build" / "oauth-conformance.json"
PASSED, FAILED = "passed", "failed"
HEAD = """\
# OAuth and OpenID Connect, requirement by requirement

Written by `make conformance`, which runs every test of `tests/conformance/auth`. A requirement counts as
passed by our server when every test of it passed on every store: SQLite, PostgreSQL, and PostgreSQL with
Valkey where the test is about state. The same tests over plain HTTP grade npm `oidc-provider` {version},
unmodified, with its state in memory and its optional features switched on; its column is measured, not
asserted. A dash means that the requirement cannot be asked of it over plain HTTP: it needs a turned clock,
or is about pages and accounts that it leaves to whoever deploys it. Some rows are promises of our own
beyond the standards, and say so.
"""


@dataclass
class Results:
    """What became of the tests of each row."""

    outcomes: dict[tuple[str, str], dict[str, set[str]]] = field(default_factory=lambda: defaultdict(dict))
    _of_this_run: set[tuple[str, str, str]] = field(default_factory=set)

    def record(self, rows: tuple[str, ...], target: str, test: str, outcome: str) -> None:
        for row in rows:
            if (row, target, test) not in self._of_this_run:
                self._of_this_run.add((row, target, test))
                self.outcomes[row, target][test] = set()
            self.outcomes[row, target][test].add(outcome)

    @classmethod
    def kept(cls) -> Results:
        """Those of earlier runs."""
        results = cls()
        for row, target, test, seen in json.loads(KEPT.read_text()) if KEPT.exists() else []:
            results.outcomes[row, target][test] = set(seen)
        return results

    def keep(self) -> None:
        rows = [
            [*key, test, sorted(seen)] for key, tests in self.outcomes.items() for test, seen in tests.items()
        ]
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(rows), encoding="utf-8")

    @property
    def complete(self) -> bool:
        """Whether ours passed every row."""
        return all(self.cell(row, "ours") == PASSED for row in all_rows())

    def cell(self, row: str, target: str) -> str:
        """passed, failed, or how many of its tests passed; a dash where none could be asked."""
        asked = [seen for seen in self.outcomes[row, target].values() if seen & {PASSED, FAILED}]
        good = sum(FAILED not in seen for seen in asked)
        if not asked:
            return "–"
        if good == len(asked):
            return PASSED
        return FAILED if good == 0 else f"{good} of {len(asked)}"

    def failures(self, row: str, target: str) -> list[str]:
        """The tests of the row that failed, as sentences."""
        failed = [test for test, seen in self.outcomes[row, target].items() if FAILED in seen]
        return [re.sub(r"^test_(?:[a-p][0-9]+_)+", "", test).replace("_", " ") for test in failed]


def page(results: Results) -> str:
    """The table, and what the peer failed at."""
    lock = json.loads((HERE / "peers" / "package.json").read_text(encoding="utf-8"))
    lines = [HEAD.format(version=lock["dependencies"][PEER])]
    section = ""
    for row in all_rows().values():
        if row.section != section:
            section = row.section
            lines += [f"\n## {section}\n", f"| id | requirement | ours | {PEER} |"]
            lines.append("| --- | --- | --- | --- |")
        cells = [results.cell(row.ident, target) for target in ("ours", PEER)]
        lines.append(f"| {row.ident} | {row.requirement} | {' | '.join(cells)} |")
    lines += [f"\n## What {PEER} does otherwise\n", "| id | test |", "| --- | --- |"]
    lines += [f"| {row} | {sentence} |" for row in all_rows() for sentence in results.failures(row, PEER)]
    return "\n".join(lines) + "\n"


def main() -> int:
    results = Results.kept() if sys.argv[1:] else Results()

    class Plugin:
        record = staticmethod(results.record)

        @staticmethod
        def pytest_configure(config: pytest.Config) -> None:
            config.pluginmanager.register(results, RECORDER)

    # That the page is fresh can only be asked when it is written.
    asked = sys.argv[1:] or [str(HERE), "-q", f"--ignore={HERE / 'test_rows.py'}"]
    status = pytest.main(asked, plugins=[Plugin()])
    results.keep()
    if results.complete:
        PAGE.write_text(page(results), encoding="utf-8")
    else:
        missing = [row for row in all_rows() if results.cell(row, "ours") != PASSED]
        sys.stderr.write(f"not written: ours has not passed {', '.join(missing)}\n")
    return int(status) or int(not results.complete)


if __name__ == "__main__":
    sys.exit(main())
