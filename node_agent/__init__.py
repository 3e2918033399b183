"""The agent that runs on a router: it links the node to its control server and runs tools there."""
