"""Decisions about clients: addresses they may name, and parameters as they send them."""
