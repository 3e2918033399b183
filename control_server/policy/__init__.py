"""Facts of the whole fleet: what is routed with others, and how the nodes speak among themselves."""
