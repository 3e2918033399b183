"""What the three services and the agent have in common."""

__version__ = "0.1.0"
