"""Interfaces of the host: what is there, what to do, and doing it."""
