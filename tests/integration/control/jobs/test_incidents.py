"""Nodes lost and back: one incident, told once each, however many watch."""

import asyncio
import json
from datetime import timedelta

from control_server.alerts.dependencies import watch_of
from tests.integration.control.jobs.plant import Plant, becomes
from tests.integration.control.jobs.receiver import Receiver

SILENCE = timedelta(minutes=4)


async def told(plant: Plant, receiver: Receiver, count: int) -> list[dict[str, object]]:
    async def so() -> bool:
        return len(receiver.received) == count and await plant.pending() == 0

    async with plant.working():
        await becomes(so)
    return [json.loads(request.body) for request in receiver.received]


class TestWatch:
    async def test_a_lost_node_and_its_return_are_told_under_one_incident(
        self, plant: Plant, receiver: Receiver
    ) -> None:
        await plant.add_channel(receiver.url)
        await plant.add_node("fra1")
        await plant.watch.look()
        await plant.fall_silent("fra1")
        plant.clock.turn(SILENCE)
        for _ in range(3):
            await plant.watch.look()
        assert [body["event"] for body in await told(plant, receiver, 1)] == ["node.lost"]

        await plant.speak("fra1")
        plant.clock.turn(timedelta(minutes=1))
        for _ in range(3):
            await plant.watch.look()
        lost, back = await told(plant, receiver, 2)
        assert (back["event"], back["node"]["id"]) == ("node.back", "fra1")  # type: ignore[index]
        assert back["incident"]["id"] == lost["incident"]["id"]  # type: ignore[index]
        assert len(set(receiver.keys)) == 2
        incidents = (await plant.admin.get("/api/v1/alerts/incidents")).json()
        assert [bool(each["closed_at"]) for each in incidents] == [True]

    async def test_many_watches_open_one_incident(self, plant: Plant, receiver: Receiver) -> None:
        await plant.add_channel(receiver.url)
        await plant.add_node("fra1")
        watches = [watch_of(plant.resources) for _ in range(4)]
        for watch in watches:
            await watch.look()
        plant.clock.turn(SILENCE)
        await asyncio.gather(*(watch.look() for watch in watches))
        assert len((await plant.admin.get("/api/v1/alerts/incidents")).json()) == 1
        assert len(await told(plant, receiver, 1)) == 1

    async def test_silence_before_the_watch_began_loses_nobody(self, lite: Plant) -> None:
        await lite.add_node("fra1")
        lite.clock.turn(timedelta(days=1))
        await lite.watch.look()
        lite.clock.turn(timedelta(minutes=1))
        await lite.watch.look()
        assert (await lite.admin.get("/api/v1/alerts/incidents")).json() == []

    async def test_a_node_that_comes_and_goes_stays_lost(self, lite: Plant) -> None:
        await lite.add_node("fra1")
        await lite.watch.look()
        lite.clock.turn(SILENCE)
        await lite.watch.look()
        for _ in range(5):
            await lite.speak("fra1")
            lite.clock.turn(timedelta(seconds=10))
            await lite.watch.look()
        incidents = (await lite.admin.get("/api/v1/alerts/incidents")).json()
        assert [each["closed_at"] for each in incidents] == [None]
