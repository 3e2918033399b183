"""The agent's own log: one event a line on standard error, without secrets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import structlog

from shared.kernel.secrets import redact

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any


def without_secrets(_logger: object, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace every bearer secret, whichever field it strayed into."""
    return {key: redact(value) if isinstance(value, str) else value for key, value in event.items()}


def configure(*, as_json: bool) -> None:
    """Set up structlog for this process."""
    last: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(
            colors=False,
            # The richer tracebacks print local variables, keys among them.
            exception_formatter=structlog.dev.plain_traceback,
        )
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            without_secrets,
            last,
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
