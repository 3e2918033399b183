"""Portal routes of pools."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Request, Response
from fastapi.responses import RedirectResponse

from control_server.ipam.dependencies import IpamOf
from control_server.ipam.schemas import PoolChange, PoolCreate, PoolForm, PoolName, PoolRead
from control_server.policy.dependencies import Reader, Writer
from control_server.policy.rules.conflicts import reconciled, remembered
from shared.kernel.errors import AppError
from shared.web.forms import drawn_again, field_messages, parse
from shared.web.problems import STATUS_OF_KIND
from shared.web.rendering import render
from shared.web.routing import Router

router = Router(include_in_schema=False)


@router.get("/pools")
async def show_pools(request: Request, _reader: Reader, ipam: IpamOf) -> Response:
    """Every pool, how much of it is given out, and the form of a new one."""
    pools = (await ipam.list_pools()).items
    return render(request, "ipam/pools.html", pools=pools, typed=PoolForm(), errors={})


@router.post("/pools")
async def create_pool_from_page(
    request: Request, writer: Writer, ipam: IpamOf, typed: Annotated[PoolForm, Form()]
) -> Response:
    """Add a pool."""
    pools = (await ipam.list_pools()).items

    def draw(refusal: AppError) -> Response:
        status = STATUS_OF_KIND[refusal.kind]
        told = {"pools": pools, "typed": typed, "errors": _errors(refusal)}
        return render(request, "ipam/pools.html", status_code=status, **told)

    with drawn_again(draw):
        wanted = parse(PoolCreate, typed.model_dump(include={"name", "kind", "range"}))
        await ipam.create_pool(writer, wanted)
    return RedirectResponse("/pools", status_code=303)


@router.get("/pools/{name}")
async def show_pool(request: Request, _reader: Reader, name: PoolName, ipam: IpamOf) -> Response:
    """One pool: its range, and who has what of it."""
    return render(request, "ipam/pool.html", **await _pool(ipam, name))


@router.post("/pools/{name}")
async def change_pool_from_page(
    request: Request, writer: Writer, name: PoolName, ipam: IpamOf, typed: Annotated[PoolForm, Form()]
) -> Response:
    """Give the pool another range."""
    shown = await _pool(ipam, name)
    present: PoolRead = shown["pool"]

    def draw(refusal: AppError) -> Response:
        told: dict[str, Any] = {**shown, "typed": typed, "errors": _errors(refusal)}
        if refusal.code == "fact_changed":
            told["typed"], told["conflicts"] = reconciled(typed, _form_of(present))
        return render(request, "ipam/pool.html", status_code=STATUS_OF_KIND[refusal.kind], **told)

    with drawn_again(draw):
        await ipam.change_pool(writer, name, PoolChange(range=typed.range.strip()), typed.version)
    return RedirectResponse(f"/pools/{name}", status_code=303)


@router.post("/pools/{name}/delete")
async def delete_pool_from_page(request: Request, writer: Writer, name: PoolName, ipam: IpamOf) -> Response:
    """Remove a pool of which nothing is given out."""
    shown = await _pool(ipam, name)

    def draw(refusal: AppError) -> Response:
        status = STATUS_OF_KIND[refusal.kind]
        return render(request, "ipam/pool.html", status_code=status, **{**shown, "errors": _errors(refusal)})

    with drawn_again(draw):
        await ipam.delete_pool(writer, name)
    return RedirectResponse("/pools", status_code=303)


def _errors(refusal: AppError) -> dict[str, Any]:
    found = field_messages(refusal)
    return found or {"form": refusal.detail}


def _form_of(pool: PoolRead) -> PoolForm:
    return PoolForm(version=pool.version, name=pool.name, kind=pool.kind.value, range=pool.range)


async def _pool(ipam: IpamOf, name: str) -> dict[str, Any]:
    pool = await ipam.get_pool(name)
    return {
        "pool": pool,
        "allocations": (await ipam.list_allocations(name)).items,
        "typed": remembered(_form_of(pool)),
        "errors": {},
        "conflicts": (),
    }
