"""`python -m auth_server serve | work | migrate | seed`."""

from auth_server.commands import main

if __name__ == "__main__":
    main()
