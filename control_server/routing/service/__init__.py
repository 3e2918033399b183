"""Takes reports of routes, tells what they amount to, and forgets what has had its time."""

from control_server.routing.service.exposition import FleetExposition
from control_server.routing.service.forgetting import RouteRetention
from control_server.routing.service.keeping import (
    BestPathRecording,
    BestPathWatch,
    HeardBestPaths,
    TableKeeper,
)
from control_server.routing.service.reading import RoutingService

__all__ = [
    "BestPathRecording",
    "BestPathWatch",
    "FleetExposition",
    "HeardBestPaths",
    "RouteRetention",
    "RoutingService",
    "TableKeeper",
]
