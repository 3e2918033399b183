"""Structured logs: events with fields, JSON in production, secrets dropped."""

from __future__ import annotations

import logging
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import structlog

from shared.kernel.secrets import redact

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from structlog.typing import Processor

_SECRET_WORDS = ("token", "secret", "password", "authorization", "cookie", "private_key", "challenge")
_HARMLESS = frozenset({"token_id", "fencing_token", "secret_id", "tokens"})


class LogFormat(StrEnum):
    """How a line looks."""

    JSON = "json"
    CONSOLE = "console"


def drop_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Blank every field that is named like a secret, and every text that contains one of ours."""
    for name, value in event.items():
        lowered = name.lower()
        if lowered not in _HARMLESS and any(word in lowered for word in _SECRET_WORDS):
            event[name] = "[redacted]"
        elif isinstance(value, str):
            event[name] = redact(value)
    return event


def configure_logs(*, level: str = "INFO", form: LogFormat = LogFormat.JSON) -> None:
    """Send our events and the libraries' messages to standard error in one form."""
    before: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=before,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_last(form)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for noisy in ("uvicorn.access", "httpx2", "httpcore2", "aiosqlite", "websockets", "sse_starlette.sse"):
        logging.getLogger(noisy).setLevel("WARNING")
    structlog.configure(
        # What nobody will read is dropped before anything is made of it.
        processors=[
            structlog.stdlib.filter_by_level,
            *before,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _last(form: LogFormat) -> list[Processor]:
    """What makes a line of an event."""
    if form is LogFormat.JSON:
        return [structlog.processors.format_exc_info, drop_secrets, structlog.processors.JSONRenderer()]
    # Plain tracebacks: the richer ones print local variables, secrets among them.
    return [
        structlog.processors.format_exc_info,
        drop_secrets,
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        ),
    ]
