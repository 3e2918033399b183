"""What the three services and the agent have in common."""
