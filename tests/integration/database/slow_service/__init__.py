"""A service whose second migration can be caught in the middle."""
