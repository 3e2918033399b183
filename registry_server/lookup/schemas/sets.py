"""What an as-set comes to."""

from __future__ import annotations

from pydantic import BaseModel, Field

from registry_server.lookup.schemas.catalogue import example


class AsSetExpansion(BaseModel):
    """Every AS number in an as-set and in those that it contains."""

    model_config = example(
        as_set="AS-FOO",
        asns=[4242429901, 4242429902],
        sets=["AS-BAR", "AS-FOO"],
        by_reference=[4242429902],
        missing=["AS-GONE"],
        warnings=[],
    )

    as_set: str
    asns: list[int]
    sets: list[str] = Field(description="The sets that were walked through, this one included")
    by_reference: list[int] = Field(
        description="Of `asns`, those that name a set themselves (`member-of`), as its `mbrs-by-ref` allows"
    )
    missing: list[str] = Field(description="Members that are no AS number and no as-set of the registry")
    warnings: list[str] = Field(description="`as0`: AS 0 is a member, which no router should be told")
