"""Pure decisions of a mirror."""
