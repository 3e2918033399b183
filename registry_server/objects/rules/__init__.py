"""Pure decisions about registry files: nothing here raises on any input, nothing reads the world."""
