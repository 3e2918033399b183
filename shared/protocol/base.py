"""The base of everything that goes over the agent's socket."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frame(BaseModel):
    """A message: a reader ignores fields that it does not know, so that both sides upgrade in any order."""

    model_config = ConfigDict(frozen=True, extra="ignore")
