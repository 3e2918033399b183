"""`python -m control_server serve | work | migrate | seed`."""

from control_server.commands import main

if __name__ == "__main__":
    main()
