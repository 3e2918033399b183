"""How two objects belong together."""

from __future__ import annotations

from pydantic import BaseModel, Field

from registry_server.lookup.schemas.catalogue import example


class ConnectionStep(BaseModel):
    """The next object on the way, and what leads to it from the one before."""

    object_class: str
    key: str
    attribute: str | None = Field(description="By which one names the other; null for the first object")
    named_by: str | None = Field(description="`before` or `this`: whose text has the name")


class Connection(BaseModel):
    """The shortest way, both ends included."""

    model_config = example(
        steps=[
            {"object_class": "route", "key": "172.20.0.0/24", "attribute": None, "named_by": None},
            {
                "object_class": "aut-num",
                "key": "AS4242429901",
                "attribute": "origin",
                "named_by": "before",
            },
            {"object_class": "as-set", "key": "AS-FOO", "attribute": "members", "named_by": "this"},
        ]
    )

    steps: list[ConnectionStep]
