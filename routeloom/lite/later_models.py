"""Validators of models are built when they are first used, not where the models are declared.

Most models of three services are never used in the minutes after a start, and many of them include others,
whose validators are then built again inside. Pydantic builds each when it is first needed, under a lock.
"""

from __future__ import annotations

import os

from pydantic import BaseModel


def build_models_when_used() -> None:
    """For the whole process and every library in it; call it before anything that declares models."""
    BaseModel.model_config["defer_build"] = True
    # It would look through every installed distribution for plugins, of which there is none here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
