"""The people: accounts, their roles, and the invitations that make them."""
