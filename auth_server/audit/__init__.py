"""Who did what, from where: append-only."""
