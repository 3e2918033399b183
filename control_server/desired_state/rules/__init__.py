"""Decisions about desired states: what follows from the facts, what differs, how a preview looks."""
