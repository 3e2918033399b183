"""One pass: from what is wanted and what runs to a result that says what is true."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import structlog

from node_agent.apply import daemon
from node_agent.apply.drift import Wanted, drift_items
from node_agent.apply.files import ConfigurationPlaces
from node_agent.apply.following import sessions_with_other_limits
from node_agent.apply.keys import OwnKeys, open_secrets
from node_agent.apply.links.acting import carry_out
from node_agent.apply.links.observing import HostLinks, observe_links
from node_agent.apply.links.planning import Action, LinkPlan, OwnSecrets, plan_links
from node_agent.apply.links.resolving import Resolver
from node_agent.apply.proof import sessions_of, standing, to_be_proven
from node_agent.apply.store import Achieved, ApplyStore
from node_agent.bird.client import conversing
from shared.kernel.clock import Clock
from shared.kernel.errors import AppError
from shared.protocol.desired_state.document import PublishedState
from shared.protocol.fleet import ApplyError, ApplyResult, ApplyState, DriftItem
from shared.rendering.bird import Surroundings, render
from shared.rendering.bundle import Bundle

log = structlog.get_logger(__name__)

_TOLD = 1024


@dataclass(frozen=True, slots=True)
class Host:
    """Where and with what a pass works."""

    places: ConfigurationPlaces
    store: ApplyStore
    keys: OwnKeys
    switch: daemon.Switch
    now: Clock
    resolver: Resolver = field(default_factory=Resolver)


@dataclass(frozen=True, slots=True)
class PassOutcome:
    """What a pass found different, and what became of it."""

    result: ApplyResult
    drift: tuple[DriftItem, ...]


@dataclass(slots=True)
class Pass:
    """A pass over one generation. It is made once and run once."""

    host: Host
    published: PublishedState
    actions: list[str] = field(default_factory=list)
    drift: list[DriftItem] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)
    running: str | None = None
    _step: str = "begin"

    async def run(self) -> PassOutcome:
        """Bring the host to the wanted state as far as it goes. Raises nothing of the host's making."""
        started = self.host.now()
        errors: list[ApplyError] = []
        try:
            await self._apply()
        except AppError as error:
            log.warning("apply.failed", step=self._step, code=error.code, detail=error.detail)
            errors.append(ApplyError(step=self._step, code=error.code, detail=error.detail[:_TOLD]))
        state = ApplyState.FAILED if errors else ApplyState.APPLIED
        if self.host.store.paused:
            state = ApplyState.PAUSED
        return PassOutcome(self._result(state, errors, started), tuple(self.drift))

    async def _apply(self) -> None:
        state, host = self.published.state, self.host
        async with self._during("secrets"):
            secrets = open_secrets(state, host.keys)
            own = OwnSecrets(
                host.keys.wireguard_text,
                host.keys.public.wireguard,
                {
                    link.interface: secrets[place]
                    for link in state.links
                    if (place := _psk(link.interface)) in secrets
                },
            )
        async with self._during("links"):
            links = await observe_links()
            plan = plan_links(state, links, own, host.store.achieved().possessions)
        async with self._during("bird"):
            running = await self._look()
        async with self._during("render"):
            around = Surroundings(
                running.version, str(host.places.local), host.places.local_digest(), secrets
            )
            bundle = render(state, self.published.generation, around)
            self.unsupported = [f"{entry.field} needs {entry.needs}" for entry in bundle.unsupported]
        aim = Wanted(bundle.identity, host.store.achieved().identity, around.local_digest)
        self.drift = drift_items(plan, running, aim)
        if not host.store.paused:
            await self._write(plan, bundle, links)

    async def _write(self, plan: LinkPlan, bundle: Bundle, links: HostLinks) -> None:
        host = self.host
        due = self.running != bundle.identity or host.places.current_identity() != bundle.identity
        main = await self._stage(bundle) if due else None
        async with self._during("links"):
            self._keep(host.store.achieved().with_links(plan, finished=False), plan)
            await self._carry_out(plan.before)
        if main is not None:
            await self._configure(main, bundle)
        async with self._during("links"):
            await self._carry_out(plan.after)
        await self._look_up_again(links)
        achieved = host.store.achieved().with_links(plan, finished=True)
        update = {"generation": self.published.generation, "identity": bundle.identity}
        self._keep(achieved.model_copy(update=update), plan)
        if to_be_proven(self.published.state):
            async with self._during("validation"):
                await self._judge_anew(bundle)

    async def _stage(self, bundle: Bundle) -> Path:
        places = self.host.places
        async with self._during("write"):
            places.prepare()
            main = places.write(bundle)
        async with self._during("validate"):
            try:
                await daemon.validate(main, self.host.switch.socket)
            except AppError:
                await self._go_back()
                raise
        return main

    async def _configure(self, main: Path, bundle: Bundle) -> None:
        identity, before = bundle.identity, self.running
        async with self._during("configure"):
            try:
                if before != identity:
                    self.actions += await self.host.switch.take(main, identity)
            except AppError:
                await self._go_back()
                raise
            self.running = identity
            self.host.places.make_current(identity)
        if before not in {None, identity}:
            async with self._during("reload"):
                old = self.host.places.main_of(str(before)).parent
                self.actions += await self.host.switch.reload(sessions_with_other_limits(old, bundle))

    async def _judge_anew(self, bundle: Bundle) -> None:
        """Run the import filters again where caches prove themselves since the last pass, or no more."""
        host, achieved = self.host, self.host.store.achieved()
        async with conversing(host.switch.socket) as conversation:
            now = await standing(conversation)
        if now == achieved.proof:
            return
        if achieved.proof:
            self.actions += await host.switch.reload(sessions_of(bundle))
        host.store.keep_achieved(achieved.model_copy(update={"proof": now}))

    async def _go_back(self) -> None:
        """What runs stays if it is ours; a stranger's configuration gives way to the last good one."""
        proven = self.host.store.achieved().identity
        if proven is None or self.running == proven or not self.host.places.main_of(proven).exists():
            return
        try:
            await self.host.switch.go_back(self.host.places.main_of(proven), proven)
        except AppError as error:
            log.warning("apply.last_good_refused", identity=proven, detail=error.detail)
            return
        self.running = proven
        self.actions.append(f"restored {proven}")

    async def _look_up_again(self, links: HostLinks) -> None:
        """Peers whose names may lead elsewhere now. A name that leads nowhere is no failure of this pass."""
        for action in self.host.resolver.due(self.published.state, links, self.host.now()):
            try:
                await self._carry_out((action,))
            except AppError as error:
                log.info("apply.name_unresolved", action=action.text, detail=error.detail)

    def _keep(self, achieved: Achieved, plan: LinkPlan) -> None:
        if achieved != self.host.store.achieved() or not plan.idle:
            self.host.store.keep_achieved(achieved)

    async def _carry_out(self, actions: Sequence[Action]) -> None:
        self.actions += await carry_out(actions)

    async def _look(self) -> daemon.Running:
        async with conversing(self.host.switch.socket) as conversation:
            running = await daemon.look(conversation)
        self.running = running.identity
        return running

    @asynccontextmanager
    async def _during(self, step: str) -> AsyncIterator[None]:
        self._step = step
        yield

    def _result(self, state: ApplyState, errors: Sequence[ApplyError], started: datetime) -> ApplyResult:
        return ApplyResult(
            generation=self.published.generation,
            sha256=self.published.sha256,
            status=state,
            running=self.running,
            actions=tuple(self.actions),
            errors=tuple(errors),
            unsupported=tuple(self.unsupported),
            started_at=started,
            finished_at=self.host.now(),
        )


def _psk(interface: str) -> str:
    return f"links.{interface}.preshared_key"


#: Longest time between two passes when nothing asks for one.
PASS_EVERY = timedelta(seconds=60)
