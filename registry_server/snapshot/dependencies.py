"""Wiring of the snapshot, for every feature that answers from it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from registry_server.snapshot.service import SnapshotKeeper


async def _opened(request: Request) -> None:
    keeper: SnapshotKeeper = request.app.state.resources.snapshots
    await keeper.opened()


#: Has a request wait for the first look at SQL after a start. Raises DatabaseUnavailable.
Opened = Annotated[None, Depends(_opened)]
