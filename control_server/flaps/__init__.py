"""How restless sessions and prefixes are: scored, explained, and remembered."""
