"""A control server for the proxies to stand in front of."""

from tests.integration.control.probes.conftest import clock, on_sqlite, sqlite_template, stage

__all__ = ["clock", "on_sqlite", "sqlite_template", "stage"]
