"""How an agent becomes a node's agent."""
