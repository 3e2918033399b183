"""Names of autonomous systems on pages of routes: in time, or not at all."""

import asyncio
from typing import Any, cast

from control_server.routing.service import RoutingService


def service(name_of: Any) -> RoutingService:
    return RoutingService(cast("Any", None), cast("Any", None), name_of)


class TestNamesOf:
    async def test_who_answers_has_a_name(self) -> None:
        async def name_of(number: str) -> str | None:
            return {"1": "ONE-AS"}.get(number)

        assert await service(name_of).names_of([2, 1, 1]) == {1: "ONE-AS"}

    async def test_who_does_not_answer_in_time_has_a_number_alone(self) -> None:
        hanging: list[str] = []

        async def name_of(number: str) -> str | None:
            if number == "1":
                return "ONE-AS"
            hanging.append(number)
            try:
                await asyncio.Event().wait()
            finally:
                hanging.remove(number)
            return None

        assert await service(name_of).names_of([1, 2, 3]) == {1: "ONE-AS"}
        assert hanging == [], "nothing is left waiting"

    async def test_nonsense_of_the_registry_fails_no_page(self) -> None:
        async def name_of(_number: str) -> str | None:
            raise ValueError("no JSON")

        assert await service(name_of).names_of([1]) == {}

    async def test_asks_for_a_bounded_number(self) -> None:
        asked: list[str] = []

        async def name_of(number: str) -> str | None:
            asked.append(number)
            return None

        await service(name_of).names_of(range(1, 5000))
        assert len(asked) <= 100
        assert await service(name_of).names_of([]) == {}
