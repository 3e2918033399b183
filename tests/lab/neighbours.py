"""Other people's networks: a router that its operator configures by hand, from what our portal told him."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.integration.agent.apply.routers import Router, join
from tests.lab.building import FAST, Lab

#: The device protocol has the name with which the router booted: BIRD forgets all interfaces of another one.
_BASE = """router id 172.21.8{number}.1;
timeformat protocol iso long us;
protocol device rl_device {{ }}
protocol bfd {{ interface "*" {{ min rx interval 200 ms; min tx interval 200 ms; multiplier 3; }}; }}
protocol kernel {{ ipv4 {{ import none; export where source = RTS_BGP; }}; }}
protocol kernel {{ ipv6 {{ import none; export where source = RTS_BGP; }}; }}
protocol static announced4 {{ ipv4; {four} }}
protocol static announced6 {{ ipv6; {six} }}
"""
#: A neighbour who tries again sooner than BIRD does by itself.
_IMPATIENT = (
    "\n  connect retry time 1; connect delay time 1; error wait time 1, 2; hold time 9; keepalive time 3;"
)
_BEGINS = re.compile(r"^protocol bgp \w+ \{", re.MULTILINE)


@dataclass
class Neighbour:
    """One of them: `number` is its own in all its names and addresses."""

    lab: Lab
    name: str
    number: int
    #: The node that it speaks with, and the number of that one.
    node: str

    @property
    def router(self) -> Router:
        return self.lab.neighbours[self.name]

    @property
    def asn(self) -> int:
        return 4242429800 + self.number

    @property
    def link_local(self) -> str:
        return f"fe80::80{self.number}"

    @property
    def interface(self) -> str:
        """Its end of the link, named as the text for it names it."""
        return f"wg-{self.node}"

    def link(self, **more: Any) -> dict[str, Any]:
        """The link's facts at our side; a plain one is a cable that is laid now."""
        if self.lab.kind == "plain":
            join(self.lab.nodes[self.node], self.router, (f"eth-{self.name}", self.interface))
            return {"kind": "plain", "interface": f"eth-{self.name}", **more}
        port = 20000 + int(self.node[1:])
        return {
            "kind": "wireguard",
            "peer_public_key": self.router.keys.public.wireguard,
            "endpoint": f"{_bracketed(self.lab.hub.wires.of(self.router_number))}:{port}",
            "keepalive": 1,
            "userspace": True,
            **more,
        }

    @property
    def router_number(self) -> int:
        """Its place on the bridge."""
        return 10 + self.number

    def ask_for_peering(self, session: dict[str, Any], **more: Any) -> None:
        """The peering as our operator writes it."""
        session = {"neighbor6": self.link_local, **session}
        session["options"] = {**FAST, **session.get("options", {})}
        body = {"node_id": self.node, "name": self.name, "asn": self.asn, "session": session, **more}
        self.lab.hub.want("POST", "/api/v1/peerings", body)

    def paste(self, secrets: dict[str, str] | None = None) -> None:
        """Take the texts for the other side, fill in what only the neighbour has, and use them."""
        peering = self.lab.hub.peering(self.node, self.name)
        told = self.lab.hub.want("GET", f"/api/v1/peerings/{peering['id']}/other-side")
        filled = {"YOUR-PRIVATE-KEY": self.router.keys.wireguard_text, **(secrets or {})}
        for mark, secret in filled.items():
            told["wireguard"] = (told["wireguard"] or "").replace(mark, secret)
            told["bird"] = told["bird"].replace(mark, secret)
        if told["wireguard"]:
            file = self.router.directory / f"{self.interface}.conf"
            file.write_text(told["wireguard"] + "\n")
            file.chmod(0o600)
            self.router.place.run("wg-quick", "up", str(file))
        else:
            self.router.place.run(
                *("ip", "address", "add", f"{self.link_local}/64", "dev", self.interface, "nodad")
            )
        (self.router.directory / "pasted.conf").write_text(
            _BEGINS.sub(lambda found: found[0] + _IMPATIENT, told["bird"])
        )

    def announce(self, four: Sequence[str], six: Sequence[str]) -> None:
        """Run the pasted session beside static routes, which are what it gives away."""
        text = _BASE.format(number=self.number, four=_routes(four), six=_routes(six))
        file = self.router.directory / "own.conf"
        file.write_text(f'{text}include "{self.router.directory}/pasted.conf";\n')
        said = self.router.ask(f'configure "{file}"')
        assert "Reconfigur" in said, said


def _routes(wanted: Sequence[str]) -> str:
    """Each is a prefix, and what its route carries."""
    lines = []
    for entry in wanted:
        prefix, _, carries = entry.partition(" ")
        lines.append(f"route {prefix} reject{' { ' + carries + ' }' if carries else ''};")
    return "\n".join(lines)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
