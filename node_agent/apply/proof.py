"""Whether a cache of route origin authorisations proves itself: an own prefix is valid by what it says.

BIRD runs its filters anew for the routes that changed authorisations cover (3.x) or for all (2.x). The proof
decides about all others too: routes that came before it changed were judged without it, and are judged again.
"""

from __future__ import annotations

import re

from node_agent.bird.client import BirdConversation
from shared.protocol.desired_state.document import DesiredState
from shared.rendering.bundle import Bundle

_PEERS = "peers/"
_SESSION = re.compile(r"^protocol bgp (\S+) ", re.MULTILINE)
_REBOOT = re.compile(r"Last reboot on (.+)")
_SYMBOL_CODE = 23
_FAMILIES = (4, 6)


def to_be_proven(state: DesiredState) -> bool:
    """Whether caches decide anything here, and have something to prove themselves with."""
    proof = state.node.proof4 or state.node.proof6
    return state.routing and state.roa.mode != "off" and bool(state.roa.servers) and proof is not None


async def standing(conversation: BirdConversation) -> str:
    """How the proof of each family stands, and in which life of the daemon. Raises as `ask`.

    A daemon that was started again judged its first routes without any authorisations.
    """
    verdicts = [await _verdict(conversation, family) for family in _FAMILIES]
    status = await conversation.command("show status")
    found = _REBOOT.search(status.text)
    return f"{' '.join(verdicts)} since {found[1].strip() if found else 'unknown'}"


async def _verdict(conversation: BirdConversation, family: int) -> str:
    reply = await conversation.ask(f"eval roa_check(rl_roa{family}, RL_PROOF{family}, RL_ASN) = ROA_VALID")
    return reply.lines[-1].text.strip() if reply.code == _SYMBOL_CODE else "none"


def sessions_of(bundle: Bundle) -> tuple[str, ...]:
    """All sessions with other networks."""
    texts = [text for name, text in sorted(bundle.files.items()) if name.startswith(_PEERS)]
    return tuple(session for text in texts for session in _SESSION.findall(text))
