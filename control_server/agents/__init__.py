"""The agents' link: sockets, presence, tokens."""
