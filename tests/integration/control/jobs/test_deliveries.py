"""A notification arrives once in effect, whatever the receiver and the store of jobs do."""

import hashlib
import hmac
import json
from datetime import timedelta

from control_server.durable import NOTIFICATIONS
from tests.integration.control.jobs.plant import Plant, becomes
from tests.integration.control.jobs.receiver import Receiver


async def settled(plant: Plant, ident: str, state: str) -> None:
    async def so() -> bool:
        return (await plant.delivery(ident)).state == state

    await becomes(so)


class TestDelivery:
    async def test_a_receiver_that_fails_three_times_gets_one_delivery_in_effect(
        self, plant: Plant, receiver: Receiver
    ) -> None:
        receiver.answers = ["500 Oops", "503 Busy", "404 Gone"]
        channel = await plant.add_channel(receiver.url)
        async with plant.working():
            ident = await plant.test_channel(channel["id"])
            await settled(plant, ident, "delivered")
        assert receiver.keys == [ident] * 4
        assert len({request.body for request in receiver.received}) == 1
        assert (await plant.delivery(ident)).attempts == 4

    async def test_each_request_is_signed_over_its_timestamp_and_body(
        self, lite: Plant, receiver: Receiver
    ) -> None:
        channel = await lite.add_channel(receiver.url)
        async with lite.working():
            await settled(lite, await lite.test_channel(channel["id"]), "delivered")
        request = receiver.received[0]
        signed = request.headers["routeloom-timestamp"].encode() + b"." + request.body
        expected = hmac.new(channel["secret"].encode(), signed, hashlib.sha256).hexdigest()
        assert request.headers["routeloom-signature"] == f"v1={expected}"
        assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
        assert json.loads(request.body)["version"] == 1

    async def test_one_that_never_succeeds_is_given_up_and_comes_again_from_the_page(
        self, plant: Plant, receiver: Receiver
    ) -> None:
        receiver.answers = ["500 Oops"] * 5
        channel = await plant.add_channel(receiver.url)
        async with plant.working():
            ident = await plant.test_channel(channel["id"])
            await settled(plant, ident, "dead")
            dead = (await plant.admin.get("/api/v1/jobs/dead")).json()["items"]
            assert [(job["job_id"], job["error"]) for job in dead] == [(ident, "The receiver answered 500.")]
            form = {"queue": NOTIFICATIONS, "job_id": ident}
            assert (await plant.admin.post("/jobs/dead/requeue", data=form)).status_code == 303
            await settled(plant, ident, "delivered")
        assert set(receiver.keys) == {ident}
        assert (await plant.admin.get("/api/v1/jobs/dead")).json()["items"] == []

    async def test_deleting_a_channel_cancels_what_is_on_its_way(
        self, lite: Plant, receiver: Receiver
    ) -> None:
        channel = await lite.add_channel(receiver.url)
        ident = await lite.test_channel(channel["id"])
        assert (await lite.admin.delete(f"/api/v1/alerts/channels/{channel['id']}")).status_code == 204
        async with lite.working():
            await becomes(lambda: gone(lite, ident))
        assert (await lite.delivery(ident)).state == "cancelled"
        assert receiver.received == []


async def gone(plant: Plant, ident: str) -> bool:
    return await plant.resources.durable.queues[NOTIFICATIONS].state(ident) is None


class TestReconciling:
    async def test_an_emptied_store_of_jobs_is_filled_again_from_the_facts(
        self, on_valkey: Plant, receiver: Receiver
    ) -> None:
        receiver.answers = ["500 Oops"]
        channel = await on_valkey.add_channel(receiver.url)
        first = await on_valkey.test_channel(channel["id"])
        second = await on_valkey.test_channel(channel["id"])
        backend = on_valkey.resources.durable.queues[NOTIFICATIONS]
        await backend._client.eval("return redis.call('FLUSHDB')", 0)  # type: ignore[attr-defined]
        assert await gone(on_valkey, first)
        on_valkey.clock.turn(timedelta(minutes=1))
        await on_valkey.deliveries.reconcile()
        async with on_valkey.working():
            await settled(on_valkey, first, "delivered")
            await settled(on_valkey, second, "delivered")
        assert sorted(set(receiver.keys)) == sorted([first, second])

    async def test_what_waits_or_is_settled_is_left_alone(self, plant: Plant, receiver: Receiver) -> None:
        channel = await plant.add_channel(receiver.url)
        await plant.test_channel(channel["id"])
        plant.clock.turn(timedelta(minutes=1))
        for _ in range(2):
            await plant.deliveries.reconcile()
        counts = await plant.resources.durable.queues[NOTIFICATIONS].counts()
        assert (counts.pending, counts.delayed, counts.leased) == (1, 0, 0)


class TestReceivers:
    async def test_a_redirect_is_not_followed(self, lite: Plant, receiver: Receiver) -> None:
        place = f"302 Found\r\nLocation: {receiver.url}\r\nContent-Length: 0\r\n\r\n"
        receiver.answers = [place] * 5
        channel = await lite.add_channel(receiver.url)
        async with lite.working():
            ident = await lite.test_channel(channel["id"])
            await settled(lite, ident, "dead")
        assert len(receiver.received) == 5
        assert "redirects are not followed" in (await lite.delivery(ident)).error

    async def test_an_answer_without_end_is_cut(self, lite: Plant, receiver: Receiver) -> None:
        receiver.answers = [f"200 OK\r\nContent-Length: 9999999\r\n\r\n{'x' * 100_000}"]
        channel = await lite.add_channel(receiver.url)
        async with lite.working():
            await settled(lite, await lite.test_channel(channel["id"]), "delivered")
        assert len(receiver.received) == 1
