"""Numbers that are given out once: loopbacks, ports of tunnels, numbers of nodes."""
