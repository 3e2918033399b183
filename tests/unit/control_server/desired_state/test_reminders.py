"""Heartbeats that are behind: many are compared by one look, and nobody is rung for nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime

import pytest

from control_server.agents.service import AgentConnection
from control_server.desired_state.socket import Reminders
from shared.protocol.frames import DesiredStateUpdated, Heartbeat


class Published:
    """What is newest, and who was asked for."""

    def __init__(self, **newest: int) -> None:
        self.newest = newest
        self.asked: list[set[str]] = []
        self.broken = False

    async def look_up(self, node_ids: Collection[str]) -> Mapping[str, int]:
        self.asked.append(set(node_ids))
        if self.broken:
            raise ConnectionError
        return {node: number for node, number in self.newest.items() if node in node_ids}


def connected(node: str) -> AgentConnection:
    return AgentConnection(node_id=node, fencing_token=1, connected_at=datetime(2030, 1, 1, tzinfo=UTC))


def beat(applied: int | None) -> Heartbeat:
    return Heartbeat(agent_version="1", uptime_seconds=1, applied_generation=applied)


def rung(connection: AgentConnection) -> list[object]:
    return [connection.outgoing.get_nowait() for _ in range(connection.outgoing.qsize())]


class TestRing:
    async def test_one_look_serves_all_who_were_heard(self) -> None:
        published = Published(alpha=3, bravo=2, charlie=1)
        reminders = Reminders(published.look_up)
        behind, level, new = connected("alpha"), connected("bravo"), connected("charlie")
        for connection, applied in ((behind, 2), (level, 2), (new, None)):
            await reminders.note(connection, beat(applied))
        await reminders.ring()
        assert published.asked == [{"alpha", "bravo", "charlie"}]
        assert rung(behind) == [DesiredStateUpdated(generation=3)]
        assert rung(level) == []
        assert rung(new) == [DesiredStateUpdated(generation=1)]

    async def test_the_last_heartbeat_counts(self) -> None:
        reminders = Reminders(Published(alpha=3).look_up)
        connection = connected("alpha")
        for applied in (1, 2, 3):
            await reminders.note(connection, beat(applied))
        await reminders.ring()
        assert rung(connection) == []

    async def test_asks_nothing_when_nobody_was_heard(self) -> None:
        published = Published(alpha=3)
        reminders = Reminders(published.look_up)
        await reminders.note(connected("alpha"), beat(3))
        await reminders.ring()
        await reminders.ring()
        assert len(published.asked) == 1

    async def test_a_node_of_which_nothing_is_known_is_left_alone(self) -> None:
        reminders = Reminders(Published().look_up)
        connection = connected("gone")
        await reminders.note(connection, beat(None))
        await reminders.ring()
        assert rung(connection) == []

    async def test_after_a_look_that_failed_the_next_heartbeat_rings(self) -> None:
        published = Published(alpha=3)
        reminders = Reminders(published.look_up)
        connection = connected("alpha")
        published.broken = True
        await reminders.note(connection, beat(1))
        with pytest.raises(ConnectionError):
            await reminders.ring()
        published.broken = False
        await reminders.note(connection, beat(1))
        await reminders.ring()
        assert rung(connection) == [DesiredStateUpdated(generation=3)]
