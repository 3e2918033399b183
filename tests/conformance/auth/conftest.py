"""No row is skipped, and another server is graded without failing the run."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

import pytest

from tests.conformance.auth.rows import PEER, RECORDER, rows_named_by
from tests.conformance.auth.targets.target import NotExpressible


class Recorder(Protocol):
    """Keeps what became of each test, for the table of results."""

    def record(self, rows: tuple[str, ...], target: str, test: str, outcome: str) -> None:
        """Outcome is passed, failed or not expressible."""


def target_of(item: pytest.Item) -> str:
    callspec = getattr(item, "callspec", None)
    return PEER if callspec and callspec.params.get("target") == PEER else "ours"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The peer is graded where the table is written, and left alone elsewhere."""
    if config.pluginmanager.has_plugin(RECORDER):
        return
    unwanted = [item for item in items if target_of(item) == PEER]
    if unwanted:
        config.hook.pytest_deselected(items=unwanted)
        items[:] = [item for item in items if target_of(item) != PEER]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    rows = rows_named_by(item.name)
    if not rows:
        return report
    if report.skipped:
        report.outcome, report.longrepr = "failed", f"{item.name} stands for {rows} and was skipped"
    recorder: Recorder | None = item.config.pluginmanager.get_plugin(RECORDER)
    if recorder is None or (report.passed and call.when != "call"):
        return report
    target = target_of(item)
    outcome: str = report.outcome
    if target == PEER:
        report.outcome = "passed"
        if call.excinfo is not None and call.excinfo.errisinstance(NotExpressible):
            outcome = "not expressible"
    recorder.record(rows, target, item.name.split("[")[0], outcome)
    return report
