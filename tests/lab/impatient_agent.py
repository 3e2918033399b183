"""The agent, looking at routes every two seconds instead of every minute: a story need not last so long."""

import sys
from functools import partialmethod

from node_agent.collect.routes import RouteWatch
from node_agent.program import main

RouteWatch.run = partialmethod(RouteWatch.run, interval=2.0)  # type: ignore[method-assign,assignment]

if __name__ == "__main__":
    sys.exit(main())
