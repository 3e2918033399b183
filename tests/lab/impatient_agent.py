"""The agent, looking at routes every two seconds instead of every minute: a story need not last so long."""

import sys
from functools import partialmethod

from node_agent.__main__ import main
from node_agent.collect.routes import RouteWatch

RouteWatch.run = partialmethod(RouteWatch.run, interval=2.0)  # type: ignore[method-assign,assignment]

if __name__ == "__main__":
    sys.exit(main())
