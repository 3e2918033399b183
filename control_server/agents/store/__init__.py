"""Who is connected and when nodes were heard: in this process, and over all of them on the kv tier."""

from control_server.agents.store.in_process import (
    SEND_QUEUE,
    Beat,
    Connection,
    Connections,
    Farewell,
    LostListener,
    Presence,
)
from control_server.agents.store.on_kv import Roster
from control_server.agents.store.pushes import UpdatePushes

__all__ = [
    "SEND_QUEUE",
    "Beat",
    "Connection",
    "Connections",
    "Farewell",
    "LostListener",
    "Presence",
    "Roster",
    "UpdatePushes",
]
