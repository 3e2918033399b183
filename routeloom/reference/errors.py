"""Every refusal with its stable code."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from routeloom.reference.markdown import page as whole
from routeloom.reference.markdown import table
from shared.kernel.errors import AppError
from shared.web.problems import STATUS_OF_KIND

PACKAGES = ("shared", "control_server", "auth_server", "registry_server", "node_agent", "routeloom")
_SKIPPED = (".migrations", ".__main__", "shared.testing")
_INTRODUCTION = """Over HTTP a refusal is a problem of RFC 9457 with a `code` that does not change; over
the agent socket it is an `error` frame or a close code. Programs decide by the
code, never by the sentence."""


def page() -> str:
    """`docs/reference/errors.md`."""
    import_everything()
    rows = sorted(
        (f"`{error.code}`", STATUS_OF_KIND[error.kind].value, error.kind, _meaning(error), _owner(error))
        for error in refusals()
        if "code" in vars(error)
    )
    return whole("Errors", _INTRODUCTION, table(("code", "status", "kind", "meaning", "from"), rows))


def refusals() -> set[type[AppError]]:
    """Every class of refusal that is loaded and is part of the product."""
    found: set[type[AppError]] = set()
    waiting = [AppError]
    while waiting:
        for error in waiting.pop().__subclasses__():
            if error.__module__.split(".", 1)[0] in PACKAGES and error not in found:
                found.add(error)
                waiting.append(error)
    return found


def import_everything() -> None:
    """Load every module of the product, so that nothing is forgotten."""
    for package in PACKAGES:
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not any(part in module.name for part in _SKIPPED):
                importlib.import_module(module.name)


def _meaning(error: type[AppError]) -> str:
    return inspect.cleandoc(error.__doc__ or "").split("\n\n", 1)[0]


def _owner(error: type[AppError]) -> str:
    return error.__module__.rsplit(".errors", 1)[0]
