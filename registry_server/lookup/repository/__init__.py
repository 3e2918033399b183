"""SQL of look-ups, all of one snapshot."""
