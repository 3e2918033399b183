"""What routes nodes have: their tables by changes, origins, history, and the fleet's numbers."""
