"""`python -m registry_server serve | work | migrate | seed | sync | generate | check`."""

from shared.kernel.interrupts import leave_at_once

if __name__ == "__main__":
    leave_at_once()
    from registry_server.commands import main

    main()
