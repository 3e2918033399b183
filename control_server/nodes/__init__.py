"""The routers that we manage."""
