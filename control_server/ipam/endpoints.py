"""JSON routes of pools."""

from __future__ import annotations

from fastapi import Response, status

from control_server.ipam.dependencies import IpamOf
from control_server.ipam.schemas import AllocationList, PoolChange, PoolCreate, PoolList, PoolName, PoolRead
from control_server.policy.dependencies import VERSIONED, Reader, ReadVersion, Writer, tag
from shared.web.routing import Router

router = Router(prefix="/api/v1/pools", tags=["pools"])


@router.get("")
async def list_pools(_reader: Reader, ipam: IpamOf) -> PoolList:
    """Every pool, and how much of it is given out."""
    return await ipam.list_pools()


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_pool(writer: Writer, wanted: PoolCreate, ipam: IpamOf) -> PoolRead:
    """Add a pool of loopbacks, ports of tunnels or numbers of nodes."""
    return await ipam.create_pool(writer, wanted)


@router.get("/{name}/allocations")
async def list_allocations(_reader: Reader, name: PoolName, ipam: IpamOf) -> AllocationList:
    """What the pool has given out, and to whom."""
    return await ipam.list_allocations(name)


@router.get("/{name}")
async def get_pool(_reader: Reader, name: PoolName, ipam: IpamOf, response: Response) -> PoolRead:
    """One pool."""
    found = await ipam.get_pool(name)
    tag(response, found.version)
    return found


@router.patch("/{name}", responses=VERSIONED)
async def change_pool(
    writer: Writer, name: PoolName, wanted: PoolChange, versions: ReadVersion, ipam: IpamOf
) -> PoolRead:
    """Widen a pool, or narrow it to what is given out."""
    written = await ipam.change_pool(writer, name, wanted, versions.read)
    versions.tag(written.version)
    return written


@router.delete("/{name}", status_code=status.HTTP_204_NO_CONTENT)
async def delete_pool(writer: Writer, name: PoolName, ipam: IpamOf) -> None:
    """Remove a pool of which nothing is given out."""
    await ipam.delete_pool(writer, name)
