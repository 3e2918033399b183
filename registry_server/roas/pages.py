"""The page of ROAs: how many, how fresh, those of a prefix or an AS, and what is in the way of others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Depends, Query, Request, Response

from registry_server.roas.dependencies import Roas
from registry_server.roas.errors import RoasNotReady
from registry_server.roas.schemas import Roa, RoaProblem, RoaStatus
from registry_server.roas.service.exports import RoaService
from registry_server.roas.service.reading import is_question, matching, status_of
from shared.kernel.principal import Principal
from shared.web.principals import find_principal
from shared.web.rendering import render

#: Whoever looks: the page is public, and drawn for who it is.
Visitor = Annotated[Principal | None, Depends(find_principal)]
router = APIRouter(prefix="/registry", include_in_schema=False)
_SHOWN = 200


class _Shown(NamedTuple):
    status: RoaStatus | None
    roas: Sequence[Roa]
    problems: Sequence[RoaProblem]


@router.get("/roas")
async def show_roas(
    request: Request, _visitor: Visitor, roas: Roas, q: Annotated[str, Query(max_length=100)] = ""
) -> Response:
    """Show them."""
    text = q.strip()
    shown = _read(roas, text)
    return render(request, "roas/roas.html", q=text, asked=is_question(text), shown=shown, most=_SHOWN)


def _read(roas: RoaService, text: str) -> _Shown:
    try:
        made = roas.current()
    except RoasNotReady:
        return _Shown(None, (), ())
    # One more than is shown, so that the page can say that there are more.
    found = list(islice(matching(made, text), _SHOWN + 1))
    problems = [problem for problem in made.problems if not text or text in {problem.subject, ""}]
    return _Shown(status_of(roas), found, problems[: _SHOWN + 1])
