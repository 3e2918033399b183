"""From a desired state to files, byte for byte the same wherever it is done: preview, agent, test."""
