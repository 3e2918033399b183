"""A made-up registry of any size: the same shapes and slips of the pen as a real one, and no real data."""
