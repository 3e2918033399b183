"""Background jobs: who runs them, what waits, what died, and the upkeep that runs on a schedule."""
