"""Decisions of sign-in: where it may lead, which tokens are good, how fresh a proof must be."""
