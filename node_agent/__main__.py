"""`python -m node_agent run | enrol | doctor | pause | resume`."""

import sys

from shared.kernel.interrupts import leave_at_once

if __name__ == "__main__":
    leave_at_once()
    from node_agent.program import main

    sys.exit(main())
