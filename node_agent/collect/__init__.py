"""What the agent reads from its host."""
