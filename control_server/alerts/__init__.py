"""Nodes lost and back, and who is told of it."""
