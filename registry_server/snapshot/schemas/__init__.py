"""The shape of a snapshot."""
