"""SQL of this feature: the load of a sync, and the look-ups."""
