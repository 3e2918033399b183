"""`python -m setup run | test`."""

import sys

from shared.kernel.interrupts import leave_at_once

if __name__ == "__main__":
    leave_at_once()
    from setup.preparation import main

    sys.exit(main())
