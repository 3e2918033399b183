"""Takes samples of counters, tells how much went over links, and forgets what has had its time."""

from control_server.traffic.service.forgetting import TrafficRetention
from control_server.traffic.service.keeping import SampleKeeper
from control_server.traffic.service.reading import TrafficService

__all__ = ["SampleKeeper", "TrafficRetention", "TrafficService"]
