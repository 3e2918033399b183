"""A whole small network in namespaces: a control server, three nodes with BIRD and agent, a neighbour."""
