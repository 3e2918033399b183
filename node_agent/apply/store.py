"""What the agent remembers over its own death: the wanted state, what was achieved, and what it has made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from node_agent.apply.errors import FilesNotWritten
from node_agent.apply.links.observing import HostAddress
from node_agent.apply.links.planning import LinkPlan, Possessions
from node_agent.state import read_text, write_private
from shared.protocol.desired_state.document import PublishedState

log = structlog.get_logger(__name__)

_DESIRED = "desired-state.json"
_ACHIEVED = "achieved.json"
_PAUSED = "paused"


class Achieved(BaseModel):
    """How far the node has come."""

    model_config = ConfigDict(frozen=True)

    generation: int | None = None
    #: The configuration that BIRD was last proven to run.
    identity: str | None = None
    #: How the proof of the origin authorisations stood when routes were last judged by it.
    proof: str = ""
    owned: frozenset[str] = frozenset()
    lent: dict[str, tuple[tuple[str, str | None], ...]] = {}

    @property
    def possessions(self) -> Possessions:
        """What earlier passes have made on the host."""
        lent = {name: tuple(HostAddress(*entry) for entry in entries) for name, entries in self.lent.items()}
        return Possessions(self.owned, lent)

    def with_links(self, plan: LinkPlan, *, finished: bool) -> Achieved:
        """After a plan was begun, what was there is ours still; after it was finished, only what it names."""
        lent = {name: tuple((a.text, a.peer) for a in addresses) for name, addresses in plan.lent.items()}
        if finished:
            return self.model_copy(update={"owned": plan.owned, "lent": lent})
        return self.model_copy(update={"owned": self.owned | plan.owned, "lent": {**self.lent, **lent}})


@dataclass(frozen=True, slots=True)
class ApplyStore:
    """Files in the agent's state directory, each replaced in one step."""

    directory: Path

    def desired(self) -> PublishedState | None:
        """The newest state that the server has given; None when there is none, or it is damaged."""
        text = read_text(self.directory / _DESIRED)
        if text is None:
            return None
        try:
            return PublishedState.model_validate_json(text)
        except ValidationError:
            # Of another version, or harmed: the server has it too.
            log.warning("apply.desired_state_unreadable")
            return None

    def keep_desired(self, published: PublishedState) -> None:
        """Remember it for a time without the server. Raises FilesNotWritten."""
        self._write(_DESIRED, published.model_dump_json())

    def achieved(self) -> Achieved:
        """What the last pass has left."""
        text = read_text(self.directory / _ACHIEVED)
        try:
            return Achieved.model_validate_json(text) if text else Achieved()
        except ValidationError:
            log.warning("apply.achieved_unreadable")
            return Achieved()

    def keep_achieved(self, achieved: Achieved) -> None:
        """Remember it. Raises FilesNotWritten."""
        self._write(_ACHIEVED, achieved.model_dump_json())

    @property
    def paused(self) -> bool:
        """Whether the operator at the host has stopped all writing."""
        return (self.directory / _PAUSED).exists()

    def pause(self) -> None:
        """Write nothing on this host until `resume`. Raises FilesNotWritten."""
        self._write(_PAUSED, "paused\n")

    def resume(self) -> None:
        """Write again."""
        (self.directory / _PAUSED).unlink(missing_ok=True)

    def _write(self, name: str, text: str) -> None:
        try:
            write_private(self.directory / name, text)
        except OSError as error:
            detail = f"{self.directory / name} cannot be written: {error.strerror}."
            raise FilesNotWritten(detail) from error
