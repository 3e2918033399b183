"""What each node should run: rendered, shown before it is published."""
