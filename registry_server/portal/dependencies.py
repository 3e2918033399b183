"""Wiring of the pages."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends

from shared.kernel.principal import Principal
from shared.web.principals import find_principal

#: Whoever looks; what a registry says is public, but only some may sync.
Visitor = Annotated[Principal | None, Depends(find_principal)]
