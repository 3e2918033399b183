"""`python -m auth_server serve | work | migrate | seed`."""

from shared.kernel.interrupts import leave_at_once

if __name__ == "__main__":
    leave_at_once()
    from auth_server.commands import main

    main()
