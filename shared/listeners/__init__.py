"""TCP servers of our own protocols: where they listen, how many they serve, and whom they let go first."""

from shared.listeners.connection import Connection
from shared.listeners.listener import Listener
from shared.listeners.settings import ListenerSettings
from shared.listeners.table import ConnectionTable
from shared.listeners.watch import PortReport, PortWatch

__all__ = ["Connection", "ConnectionTable", "Listener", "ListenerSettings", "PortReport", "PortWatch"]
