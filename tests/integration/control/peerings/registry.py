"""A registry service that a test speaks for, over HTTP as the real one is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import httpx2

from tests.integration.control.enrolment.office import Office


@dataclass
class SpokenRegistry:
    """Answers as the registry service does; `status` makes every answer a failure."""

    names: dict[int, str] = field(default_factory=dict)
    routes: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    sets: dict[str, list[int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    status: int = 200
    #: In place of what would be answered.
    body: bytes | None = None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        path = request.url.path.removeprefix("/registry/api/v1/")
        self.asked.append(path)
        if self.status != 200:
            return httpx2.Response(self.status)
        if self.body is not None:
            return httpx2.Response(200, content=self.body)
        kind, _, rest = path.partition("/")
        if kind == "routes":
            asn = int(request.url.params["origin"].removeprefix("AS"))
            return httpx2.Response(200, json={"origin": asn, "routes": self.routes.get(asn, [])})
        if kind == "as-set":
            found = self.sets.get(rest)
            return httpx2.Response(404) if found is None else httpx2.Response(200, json={"asns": found})
        return self._network(kind, int(rest))

    def _network(self, kind: str, asn: int) -> httpx2.Response:
        name = self.names.get(asn)
        if name is None:
            return httpx2.Response(404, json={"code": "asn_unknown"})
        if kind == "identity":
            mntners = [{"mntner": f"{name}-MNT", "auth": []}]
            return httpx2.Response(200, json={"asn": asn, "as_name": name, "mntners": mntners})
        answer = {"as_name": name, "mnt_by": [f"{name}-MNT"], "admin_c": [f"{name}-DN42"], "tech_c": []}
        return httpx2.Response(200, json=answer)

    def allow(self, asn: int, *prefixes: str, name: str | None = None, longest: int | None = None) -> None:
        """Let a network originate prefixes."""
        mnt_by = [f"{name or self.names.get(asn, 'FOO')}-MNT"]
        self.routes[asn] = [
            {"prefix": prefix, "max_length": longest, "mnt_by": mnt_by} for prefix in prefixes
        ]


def connect(office: Office, registry: SpokenRegistry) -> None:
    """Let the server ask this registry."""
    client = httpx2.AsyncClient(transport=httpx2.MockTransport(registry))
    # Resources are frozen, because nobody exchanges them while a service runs.
    object.__setattr__(office.resources, "http", client)
