"""Two workers of control, one of auth and the registry's stores on one pair of tiers: what each row does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx2
import pytest

from auth_server.keys import SIGN_IN_FAILURES
from auth_server.passkeys.dependencies import ceremony_store
from auth_server.passkeys.schemas import Ceremony, CeremonyKind
from control_server.agents.dependencies import open_link
from control_server.agents.service import AgentLink, Switchboard
from control_server.agents.store import Connections, Presence, Roster, UpdatePushes
from control_server.desired_state.store import PublishedStates
from control_server.keys import AGENT_TOKEN, AS_NAME, DESIRED_STATE, ROUTING_FLEET, ROUTING_SUMMARY
from control_server.keys import SIGN_IN_FAILURES as CONTROL_FAILURES
from control_server.nodes.store import AsNames
from control_server.operators.dependencies import login_store
from control_server.operators.schemas import Login, Purpose
from control_server.operators.store import SeenProofs
from control_server.probes.errors import ProbeUnknown
from control_server.probes.schemas import Outcome, ProbeJob
from control_server.probes.store import KvRelay, ProbeRelay, Relay, RelayWithFallback
from control_server.resources import ControlResources
from control_server.resources import open_resources as open_control
from control_server.routing.dependencies import routing_service
from control_server.traffic.dependencies import sample_keeper, traffic_service
from control_server.traffic.schemas import TrafficRange
from registry_server.keys import ASN_RECORD, IDENTITY_RECORD, MNTNER_RECORD, ROUTES_RECORD
from registry_server.lookup.store import RecordStore
from registry_server.mirror.store.versions import Versions
from shared.cache import Cache, Key, Tier, TierSettings, TierUnavailable, open_cache
from shared.cache.failures import failure_counters
from shared.kernel.proofs import Proof
from shared.kernel.secrets import digest_of
from shared.protocol.desired_state.document import DesiredState, PublishedState
from shared.protocol.desired_state.node import NodeIdentity
from shared.protocol.frames import AgentHello, Heartbeat, OutputLine, ProbeCancel
from shared.protocol.probes import ProbeLimits, ProbeState
from shared.protocol.reports import TrafficSample
from tests.conformance.auth.provider.provider import Pkce, Provider, fill, open_provider
from tests.faults.degradation.fleet_state import fleet_judged, node_judged, prefix_charged, session_charged
from tests.integration.control.probes.stage import Prepared, prepare, settings_of

DEADLINE = timedelta(milliseconds=150)
INTERRUPTED = "the probe ends as interrupted, with the lines that are stored"
WAITS = "waits in the worker and is taken afterwards"


def tier_settings(url: str | None) -> TierSettings:
    return TierSettings.model_validate({"url": url, "deadline": DEADLINE})


@dataclass
class World:
    """Everything that the rows need; made anew for each fault."""

    one: ControlResources
    two: ControlResources
    link: AgentLink
    relay: Relay
    provider: Provider
    registry: Cache
    tokens: dict[str, str]
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def caches(self) -> list[Cache]:
        return [
            *(self.one.kv, self.one.cache, self.two.kv, self.two.cache),
            *(self.provider.resources.kv, self.provider.resources.cache, self.registry),
        ]

    def other(self) -> Roster:
        """The other worker, which has heard nothing yet."""
        return Roster(self.two.kv, Connections(), Presence(), self.two.now)


@asynccontextmanager
async def world(kv_url: str | None, cache_url: str | None, directory: Path) -> AsyncIterator[World]:
    prepared = await _prepared(directory)
    settings = settings_of(prepared, directory).model_copy(
        update={"kv": tier_settings(kv_url), "cache": tier_settings(cache_url)}
    )
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(open_control(settings))
        two = await stack.enter_async_context(open_control(settings))
        link = open_link(one, Switchboard())
        database = f"sqlite:///{directory / 'auth.db'}"
        # Only while it is opened: what lives beside it has a tier of its own, or none.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROUTELOOM_AUTH_KV__URL", kv_url or "")
            patch.setenv("ROUTELOOM_AUTH_KV__DEADLINE", f"PT{DEADLINE.total_seconds()}S")
            await fill(database, directory)
            provider = await stack.enter_async_context(open_provider(database, directory))
        registry = open_cache(tier_settings(cache_url), Tier.CACHE, "tests", 3)
        stack.push_async_callback(registry.aclose)
        here = ProbeRelay(one.now)
        relay: Relay = RelayWithFallback(KvRelay(one.kv), here) if one.kv.configured else here
        connection = await link.connect("alpha", AgentHello(agent_version="1"))
        stack.push_async_callback(link.disconnect, connection)
        yield World(one, two, link, relay, provider, registry, prepared.tokens)


async def _prepared(directory: Path) -> Prepared:
    return await prepare(f"sqlite:///{directory / 'control.db'}")


# --- control: agents


async def heard(at: World) -> str:
    await at.link.hear("alpha", Heartbeat(agent_version="1", uptime_seconds=1))
    other = at.other()
    await other.refresh(["alpha"])
    if other.presence.find("alpha"):
        return "every worker knows when the node was heard"
    return "the socket's worker knows; others go by last_seen_at in SQL"


async def reached(at: World) -> str:
    reach = await at.other().reach(["alpha"])
    if reach.nodes:
        return "every worker can speak to the node"
    if reach.certain:
        return "the socket's worker can; others after the next renewal, within 30 s"
    return "the socket's worker can; others cannot tell, and end nothing for it"


async def rung(at: World) -> str:
    if await at.other().send("alpha", ProbeCancel(probe_id=uuid4())):
        return "heard at every worker"
    return "heard inside the socket's worker"


async def pushed(at: World) -> str:
    """Two workers want to tell one node of one version."""
    target = uuid4().hex
    told = [await UpdatePushes(each.kv).claim("alpha", target) for each in (at.one, at.two)]
    assert told[0]
    return "every worker may tell the node once" if told[1] else "one worker tells the node, once"


async def pulled(at: World) -> str:
    node = {"id": "alpha", "number": 1, "asn": 4242429900, "router_id": "172.20.99.1"}
    state = DesiredState(node=NodeIdentity.model_validate(node))
    published = PublishedState(generation=1, sha256=state.digest, state=state)

    async def from_sql(_node_id: str, _number: int) -> PublishedState:
        return published

    for _ in range(2):
        assert await PublishedStates(at.one.cache, from_sql).get("alpha", 1) == published
    return answered(await read(at.one.cache, DESIRED_STATE.key(node="alpha", generation=1)))


# --- control: probes


def a_job() -> ProbeJob:
    limits = ProbeLimits(lines=50, line_bytes=100, total_bytes=1000)
    return ProbeJob(uuid4(), "epoch", ("alpha",), limits, viewers=2)


async def begin_probe(at: World) -> None:
    job = a_job()
    await at.relay.open(job)
    await at.relay.append(job.id, "alpha", [OutputLine(seq=1, text="one")])
    at.kept["probe"] = job.id


async def started(at: World) -> str:
    job = a_job()
    await at.relay.open(job)
    here = at.relay.here if isinstance(at.relay, RelayWithFallback) else at.relay
    return "runs inside one worker" if await here.holds(job.id) else "shared by every worker"


async def said(at: World) -> str:
    probe: UUID = at.kept["probe"]
    try:
        await at.relay.append(probe, "alpha", [OutputLine(seq=2, text="two")])
    except TierUnavailable:
        return WAITS
    except ProbeUnknown:
        return INTERRUPTED
    return "taken once"


async def closed(at: World) -> str:
    try:
        ended = await at.relay.close_share(at.kept["probe"], "alpha", Outcome(ProbeState.DONE))
    except TierUnavailable:
        return WAITS
    return "ends once, with all of its lines" if ended else INTERRUPTED


async def watched(at: World) -> str:
    try:
        async with at.relay.subscribe(at.kept["probe"]) as following:
            return "live" if following else "stored lines, then the end"
    except TierUnavailable:
        return "stored lines; the stream is asked for again"


# --- control: sign-in, tokens, names


async def begin_login(at: World) -> None:
    at.kept["login"] = await login_store(at.one).put(a_login())


def a_login() -> Login:
    now = datetime.now(UTC)
    return Login("browser", next(iter(Purpose)), "n", "v", "/", None, now, now + timedelta(minutes=30))


async def signed_in(at: World) -> str:
    store = login_store(at.one)
    finished = await store.take(at.kept["login"])
    state = await store.put(a_login())
    assert await store.take(state) is not None
    return under_way(finished is not None, "the sign-in")


async def proof_shown(at: World) -> str:
    """One proof of a key, shown to two workers."""
    now = datetime.now(UTC)
    proof = Proof("thumbprint", uuid4().hex, now + timedelta(seconds=120))
    taken = [await SeenProofs(each.kv).claim(proof, now) for each in (at.one, at.two)]
    assert taken[0]
    return "every worker takes the proof once" if taken[1] else "one worker takes the proof, once"


async def agent_accepted(at: World) -> str:
    token = at.tokens["beta"]
    assert await at.link.authenticate(f"Bearer {token}") == "beta"
    return answered(await read(at.one.cache, AGENT_TOKEN.key(digest=digest_of(token))))


async def sampled(at: World) -> str:
    """Two samples, and the view of two hours."""
    keeper = sample_keeper(at.one)
    for _ in range(2):
        at.kept["counted"] = at.kept.get("counted", 0) + 1
        reading = {"interface": "wg-f", "epoch": "1", "received_bytes": 1000 * at.kept["counted"]}
        sample = {
            "stream": "one",
            "sequence": at.kept["counted"],
            "taken_at": at.one.now(),
            "boot_id": "boot",
            "monotonic_seconds": 30.0 * at.kept["counted"],
            "counters": [{**reading, "sent_bytes": 0}],
        }
        assert await keeper.take("alpha", TrafficSample.model_validate(sample))
    async with at.one.database.reading() as session:
        shown = await traffic_service(session, at.one).node("alpha", TrafficRange.HOURS_2)
        whole = await traffic_service(session, at.one).node("alpha", TrafficRange.HOURS_6)
    assert whole.series[0].total.received_bytes == 1000 * (at.kept["counted"] - 1)
    return "sample by sample" if shown.source == "samples" else "from the 5-minute archive, which says so"


async def counted(at: World) -> str:
    """The numbers of a node and of the fleet."""
    routing = routing_service(at.one)
    assert (await routing.node("alpha")).complete is False
    assert (await routing.fleet()).routes == 0
    keys = (ROUTING_SUMMARY.key(node="alpha"), ROUTING_FLEET.key())
    (answer,) = {answered(await read(at.one.cache, key)) for key in keys}
    return answer


async def named(at: World) -> str:
    def registry(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json={"as_name": "FOO-AS"})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(registry)) as http:
        names = AsNames(at.one.cache, http, "http://registry.example")
        assert await names.name_of("4242429901") == "FOO-AS"
    return answered(await read(at.one.cache, AS_NAME.key(asn=4242429901)), "the registry")


# --- auth


async def begin_code(at: World) -> None:
    ada, pkce = await at.provider.person(), Pkce()
    at.kept["code"] = (await at.provider.code(ada, pkce), pkce)


async def redeemed(at: World) -> str:
    code, pkce = at.kept["code"]
    old = await at.provider.redeem(code, pkce)
    assert old.status_code in {200, 400}, old.text
    fresh = Pkce()
    new = await at.provider.redeem(await at.provider.code(await at.provider.person(), fresh), fresh)
    assert new.status_code == 200, new.text
    return under_way(old.status_code == 200, "the authorization")


async def spend_code(at: World) -> None:
    ada, pkce = await at.provider.person(), Pkce()
    code = await at.provider.code(ada, pkce)
    assert (await at.provider.redeem(code, pkce)).status_code == 200
    at.kept["spent"] = (ada, code, pkce)


async def replayed(at: World) -> str:
    ada, code, pkce = at.kept["spent"]
    assert (await at.provider.redeem(code, pkce)).status_code == 400
    assert [reason for _, reason in await at.provider.grants(ada)] == ["code_replayed"]
    return "a replay is known and ends the family"


async def begin_ceremony(at: World) -> None:
    at.kept["ceremony"] = await ceremony_store(at.provider.resources).put(a_ceremony(at))


def a_ceremony(at: World) -> Ceremony:
    ends = at.provider.clock() + timedelta(minutes=5)
    return Ceremony(CeremonyKind.SIGN_IN, "browser", b"challenge", ends)


async def proved(at: World) -> str:
    store = ceremony_store(at.provider.resources)
    old = await store.take(at.kept["ceremony"])
    assert await store.take(await store.put(a_ceremony(at))) is not None
    return under_way(old is not None, "the use of the passkey")


async def failed(at: World) -> str:
    """At the sign-in service, and at the portal."""
    seen = set()
    for resources, family in ((at.provider.resources, SIGN_IN_FAILURES), (at.one, CONTROL_FAILURES)):
        counters = failure_counters(resources.kv, family, at.provider.clock)
        subject = uuid4().hex
        for counter in counters:
            await counter.add(subject)
        views = [(await counter.read(subject)).count for counter in counters]
        assert views[0] == 1
        seen.add("counted over all workers" if views[1:] == [1] else "each worker counts what it sees")
    (answer,) = seen
    return answer


# --- registry


async def raise_version(at: World) -> None:
    await Versions(at.registry).raise_to(7)


async def version_raised(at: World) -> str:
    raised = await Versions(at.registry).raise_to(8)
    return "readers follow at once" if raised else "readers ask SQL; the version is raised when it can be"


async def announced(at: World) -> str:
    if await Versions(at.registry).announce(8):
        return "every worker reads its snapshot anew at once"
    return "workers notice within a second, by their look at SQL"


def looked_up(key: Key) -> Any:
    async def act(at: World) -> str:
        store = RecordStore(at.registry)
        await store.keep(key, 8, {"a": "record"})
        return answered(await store.find(key, 8) is not None)

    return act


# --- words


async def read(cache: Cache, key: Key) -> bool:
    try:
        return await cache.get_json(key) is not None
    except TierUnavailable:
        return False


def answered(from_tier: bool, otherwise: str = "SQL") -> str:
    return "from the tier" if from_tier else f"from {otherwise}"


def under_way(goes_on: bool, what: str) -> str:
    return "goes on and ends well" if goes_on else f"{what} begins again, and ends well"


ROWS: dict[str, Any] = {
    "bgpflap": session_charged,
    "pflap": prefix_charged,
    "health:node": node_judged,
    "health:fleet": fleet_judged,
    "agent:live": heard,
    "ws:sub": reached,
    "evt:node": rung,
    "agent:push": pushed,
    "ds": pulled,
    "probe:job": started,
    "probe:buf": said,
    "probe:msg": watched,
    "probe:share": closed,
    "portal:login": signed_in,
    "dpop:seen": proof_shown,
    "agtok": agent_accepted,
    "regname": named,
    "traffic:window": sampled,
    "routing:summary": counted,
    "routing:fleet": counted,
    "oauth:code": redeemed,
    "oauth:code:used": replayed,
    "auth:ceremony": proved,
    "throttle:login": failed,
    "reg:ver": version_raised,
    "evt:registry": announced,
    "reg:asn": looked_up(ASN_RECORD.key(version=8, asn=4242429901)),
    "reg:mntner": looked_up(MNTNER_RECORD.key(version=8, name="foo-mnt")),
    "reg:routes": looked_up(ROUTES_RECORD.key(version=8, asn=4242429901)),
    "reg:identity": looked_up(IDENTITY_RECORD.key(version=8, asn=4242429901, mntner="foo-mnt")),
}
PREPARATIONS = (begin_probe, begin_login, begin_code, spend_code, begin_ceremony, raise_version)
