"""The registry service over HTTP, within bounds: a page waits for it a moment, and never fails with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from control_server.neighbours.errors import RegistryAway
from control_server.neighbours.schemas import MAX_ROUTES, RouteObject
from shared.protocol.registry import AsnIdentities

Answer = TypeVar("Answer", bound=BaseModel)

_SECONDS = 3.0
_MOST_BYTES = 4 * 2**20
#: Networks of one as-set whose route objects are asked for, and how many at a time.
_MOST_NETWORKS = 500
_AT_A_TIME = 8


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class AsnObject(_Part):
    """Of an `aut-num`, what people want to see."""

    as_name: str | None = None
    mnt_by: list[str] = Field(default_factory=list)
    admin_c: list[str] = Field(default_factory=list)
    tech_c: list[str] = Field(default_factory=list)


class _Routes(_Part):
    routes: list[RouteObject]


class _AsSet(_Part):
    asns: list[int]


@dataclass(frozen=True, slots=True)
class RegistryService:
    """Questions to the registry service. Each raises RegistryAway where no usable answer comes in time."""

    http: httpx2.AsyncClient
    address: str

    async def find_asn(self, asn: int) -> AsnObject | None:
        """The object of an AS number; None where the registry has none."""
        return await self._ask(AsnObject, f"asn/{asn}")

    async def find_identities(self, asn: int) -> AsnIdentities | None:
        """Who can prove to hold an AS number."""
        return await self._ask(AsnIdentities, f"identity/{asn}")

    async def list_routes(self, asn: int) -> list[RouteObject]:
        """What an AS number may originate."""
        found = await self._ask(_Routes, "routes", origin=f"AS{asn}")
        return found.routes[:MAX_ROUTES] if found is not None else []

    async def list_routes_of(self, source: str) -> list[RouteObject]:
        """What a source may originate: `AS<number>`, or the members of an as-set."""
        digits = source.removeprefix("AS")
        if digits.isascii() and digits.isdecimal():
            return await self.list_routes(int(digits))
        members = await self._ask(_AsSet, f"as-set/{source}")
        return await self._routes_of_all(members.asns[:_MOST_NETWORKS]) if members is not None else []

    async def _routes_of_all(self, asns: Sequence[int]) -> list[RouteObject]:
        gate = asyncio.Semaphore(_AT_A_TIME)

        async def of_one(asn: int) -> list[RouteObject]:
            async with gate:
                return await self.list_routes(asn)

        found = await asyncio.gather(*(of_one(asn) for asn in asns))
        return [route for routes in found for route in routes][:MAX_ROUTES]

    async def _ask(self, shape: type[Answer], path: str, **parameters: str) -> Answer | None:
        try:
            async with asyncio.timeout(_SECONDS):
                content = await self._read(path, parameters)
        except (TimeoutError, httpx2.HTTPError) as error:
            raise RegistryAway from error
        try:
            return shape.model_validate(content) if content is not None else None
        except ValidationError as error:
            raise RegistryAway("The registry's answer cannot be understood.") from error

    async def _read(self, path: str, parameters: dict[str, str]) -> Any:
        url = f"{self.address}/registry/api/v1/{path}"
        async with self.http.stream("GET", url, params=parameters) as answer:
            if answer.status_code == httpx2.codes.NOT_FOUND:
                return None
            if not answer.is_success:
                raise RegistryAway(f"The registry answered {answer.status_code}.")
            whole = bytearray()
            async for chunk in answer.aiter_bytes():
                whole += chunk
                if len(whole) > _MOST_BYTES:
                    raise RegistryAway("The registry's answer is too long.")
        try:
            return json.loads(whole)
        except ValueError as error:
            raise RegistryAway("The registry's answer is no JSON.") from error
