"""`python -m registry_server serve | work | migrate | seed | sync | generate | check`."""

from registry_server.commands import main

if __name__ == "__main__":
    main()
