"""Follows a git registry: fetches it, and turns each new commit into one transaction on the index."""
