"""SQL of flaps: what happened, what is muted, and the scores while the tier does not keep them."""

from control_server.flaps.repository.history import FlapHistory
from control_server.flaps.repository.mutes import FlapMutes
from control_server.flaps.repository.tables import FlapTables, Holding

__all__ = ["FlapHistory", "FlapMutes", "FlapTables", "Holding"]
