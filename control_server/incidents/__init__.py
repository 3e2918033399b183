"""What went wrong and is over, or is not: one row each, opened and closed once."""
