"""Relations of a node: peerings with other networks, and links to nodes of the own one."""
