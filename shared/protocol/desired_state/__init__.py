"""What a node should run, as the server publishes it and the agent applies it: version 1."""
