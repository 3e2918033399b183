"""The fleet: nodes, agents, probes and the admin portal."""
