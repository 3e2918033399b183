"""Every key of this service on both tiers: who is connected, what runs, what SQL need not be asked."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from shared.cache import KeyFamily, KeyRegistry, Kind, Tier
from shared.cache.failures import WINDOW

#: Database of both tiers that belongs to control_server.
DATABASE = 1

REGISTRY = KeyRegistry()
_kv = partial(KeyFamily, tier=Tier.KV, database=DATABASE)
_cached = partial(KeyFamily, tier=Tier.CACHE, database=DATABASE)

AGENT_LIVE = REGISTRY.add(
    _kv(
        name="agent:live",
        pattern="agent:live:<node>",
        kind=Kind.JSON,
        ttl=timedelta(seconds=600),
        writer="each connect and heartbeat of an agent, about every 30 s",
        purpose="when a node was last heard (by the server's clock), by whom, and its last heartbeat",
        loss="the node shows as offline to other workers until its next heartbeat",
        restart="written again by the next heartbeat; SQL's last_seen_at answers until then",
        cap=65_536,
    )
)
AGENT_SOCKET = REGISTRY.add(
    _kv(
        name="ws:sub",
        pattern="ws:sub:<node>:<instance>:<connection>",
        kind=Kind.TEXT,
        ttl=timedelta(seconds=90),
        writer="the worker that holds the agent's socket, renewed every 30 s",
        purpose="that a node can be spoken to, through which process",
        loss="a node with a socket elsewhere is taken for offline until the next renewal",
        restart="written again by the next renewal",
    )
)
NODE_EVENTS = REGISTRY.add(
    _kv(
        name="evt:node",
        pattern="evt:node:<node>",
        kind=Kind.CHANNEL,
        ttl=None,
        writer="whoever has something for an agent that is connected to another worker",
        purpose="doorbell, frames, and the word that a connection was replaced or is to end",
        loss="delivered inside the process alone; agents ask again when they connect",
    )
)
AGENT_PUSH = REGISTRY.add(
    _kv(
        name="agent:push",
        pattern="agent:push:<node>:<target>",
        kind=Kind.TEXT,
        ttl=timedelta(hours=24),
        writer="whoever first tells a node of a version that its agent should become",
        purpose="that a node was told of a version, so that it is told once a day and not by every worker",
        loss="a node may be told of the same version once more; its agent takes it once",
        restart="as a loss",
    )
)
BGP_FLAPS = REGISTRY.add(
    _kv(
        name="bgpflap",
        pattern="bgpflap:<node>",
        kind=Kind.JSON,
        ttl=timedelta(days=7),
        writer="each runtime snapshot, about every 5 min, by exchange under the connection's number",
        purpose="how the sessions of a node stood, and their flap scores",
        loss="scores of sessions begin at 0; their half-life is 30 min, and what happened stays in SQL; "
        "a fall between the two snapshots around the loss is not seen",
        restart="written again by the next snapshot; SQL keeps the scores while the tier is away",
        cap=262_144,
    )
)
PREFIX_FLAPS = REGISTRY.add(
    _kv(
        name="pflap",
        pattern="pflap:<node>",
        kind=Kind.JSON,
        ttl=timedelta(days=7),
        writer="each prefix report, about every 60 s, by exchange under the connection's number",
        purpose="flap scores of prefixes, and the report that the next one's rate is measured from",
        loss="scores of prefixes begin at 0, and one round counts no rate and writes no bucket",
        restart="written again by the next report; SQL keeps the scores while the tier is away",
        cap=262_144,
    )
)
HEALTH_NODE = REGISTRY.add(
    _cached(
        name="health:node",
        pattern="health:node:<node>",
        kind=Kind.JSON,
        ttl=timedelta(seconds=10),
        writer="readers of a node's health; removed when a report of the node is stored",
        purpose="how a node is, with reasons",
        loss="judged anew from SQL",
        restart="filled again as pages are read",
    )
)
HEALTH_FLEET = REGISTRY.add(
    _cached(
        name="health:fleet",
        pattern="health:fleet",
        kind=Kind.JSON,
        ttl=timedelta(seconds=10),
        writer="readers of the fleet's health; removed when a report of any node is stored",
        purpose="how all nodes are, and everything that needs a person",
        loss="judged anew from SQL",
        restart="filled again as pages are read",
    )
)
PROBE_JOB = REGISTRY.add(
    _kv(
        name="probe:job",
        pattern="probe:job:<probe>",
        kind=Kind.JSON,
        ttl=timedelta(hours=1),
        writer="the start of a probe (1 h) and its end (120 s)",
        purpose="what every worker needs to know of a running probe; the guard of its output",
        loss="the probe ends as interrupted and has to be started again",
        restart="probes that ran end with `server_restarted`; stored lines stay readable",
        correctness=True,
    )
)
PROBE_SHARE = REGISTRY.add(
    _kv(
        name="probe:share",
        pattern="probe:share:<probe>:<node>",
        kind=Kind.JSON,
        ttl=timedelta(hours=1),
        writer="each batch of lines, in one step with the lines themselves",
        purpose="up to which of a node's own numbers its lines were taken, and whether more are",
        loss="goes and comes with the probe's job",
        restart="as the job",
        correctness=True,
    )
)
PROBE_OUTPUT = REGISTRY.add(
    _kv(
        name="probe:buf",
        pattern="probe:buf:<probe>",
        kind=Kind.LOG,
        ttl=timedelta(hours=1),
        writer="each batch of lines; refuses what is past the cap",
        purpose="the lines of a running probe, for whoever comes later or comes back",
        loss="lines of the last second before they were stored in SQL",
        restart="as the job",
        cap=4000,
        correctness=True,
    )
)
PROBE_NEWS = REGISTRY.add(
    _kv(
        name="probe:msg",
        pattern="probe:msg:<probe>",
        kind=Kind.CHANNEL,
        ttl=None,
        writer="the script that stores lines, and each change of a probe's state",
        purpose="lines and changes for the event streams of every worker",
        loss="streams read the list again when they are connected again",
    )
)
LOGIN = REGISTRY.add(
    _kv(
        name="portal:login",
        pattern="portal:login:<state>",
        kind=Kind.JSON,
        ttl=timedelta(minutes=30),
        writer="the start of a sign-in at the provider",
        purpose="what the callback of a sign-in needs, under the hash of its state",
        loss="the person signs in once more",
        restart="as a loss",
        correctness=True,
    )
)
PROOF_SEEN = REGISTRY.add(
    _kv(
        name="dpop:seen",
        pattern="dpop:seen:<proof>",
        kind=Kind.JSON,
        ttl=timedelta(seconds=120),
        writer="the first request that shows a proof of a key",
        purpose="that the proof was shown, so that no other worker takes it again",
        loss="each worker knows the proofs that it took itself",
        restart="as a loss",
        correctness=True,
    )
)
SIGN_IN_FAILURES = REGISTRY.add(
    _kv(
        name="throttle:login",
        pattern="throttle:login:<subject>",
        kind=Kind.COUNTER,
        ttl=WINDOW,
        writer="each refused callback of a sign-in and each refused bearer; the end is fixed at the first",
        purpose="failures of an address, by its digest, over all workers",
        loss="each worker goes by the failures that it has seen itself",
        restart="counting begins anew",
    )
)
AGENT_TOKEN = REGISTRY.add(
    _cached(
        name="agtok",
        pattern="agtok:<digest>",
        kind=Kind.JSON,
        ttl=timedelta(seconds=60),
        negative_ttl=timedelta(seconds=5),
        writer="look-ups of agent tokens; a revocation or rotation leaves a tombstone",
        purpose="the node whose token has this digest",
        refresh_ahead=True,
        loss="one more query to SQL",
        restart="filled again as agents speak",
        correctness=True,
    )
)
AS_NAME = REGISTRY.add(
    _cached(
        name="regname",
        pattern="regname:<asn>",
        kind=Kind.TEXT,
        ttl=timedelta(hours=1),
        negative_ttl=timedelta(hours=1),
        writer="look-ups of AS names at the registry service",
        purpose="the name of an AS; empty where the registry has none",
        refresh_ahead=True,
        loss="one more request to the registry service",
        restart="filled again as pages are read",
    )
)
TRAFFIC_WINDOW = REGISTRY.add(
    _cached(
        name="traffic:window",
        pattern="traffic:window:<node>",
        kind=Kind.LIST,
        ttl=timedelta(hours=2),
        writer="each traffic sample of an agent, every 30 s",
        purpose="what went over the links of a node from one sample to the next, for the view of two hours",
        loss="the last two hours are drawn from the 5-minute archive, which goes on from SQL's last sample",
        restart="fills again sample by sample",
        cap=240,
    )
)
ROUTING_SUMMARY = REGISTRY.add(
    _cached(
        name="routing:summary",
        pattern="routing:summary:<node>",
        kind=Kind.JSON,
        ttl=timedelta(seconds=30),
        writer="readers of a node's routing; removed when a prefix report of the node is stored",
        purpose="numbers of a node's tables: prefixes, origin validation, sessions, lengths",
        loss="counted anew from SQL",
        restart="filled again as pages are read",
    )
)
ROUTING_FLEET = REGISTRY.add(
    _cached(
        name="routing:fleet",
        pattern="routing:fleet",
        kind=Kind.JSON,
        ttl=timedelta(seconds=30),
        writer="readers of the fleet's routing; removed when a prefix report of any node is stored",
        purpose="numbers of all tables together, each prefix once",
        loss="counted anew from SQL",
        restart="filled again as pages are read",
    )
)
DESIRED_STATE = REGISTRY.add(
    _cached(
        name="ds",
        pattern="ds:<node>:<generation>",
        kind=Kind.JSON,
        ttl=timedelta(hours=1),
        writer="the first pull of a generation by its node's agent",
        purpose="a generation as it was published; its key has its number, so it never changes",
        renewed=True,
        cap=8_388_608,
        loss="one more query to SQL",
        restart="filled again as agents pull",
    )
)
