"""Probes: one request, one to many nodes, one stream of lines, one ending."""
