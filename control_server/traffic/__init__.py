"""How much goes over the links of nodes: rates, a recent window, archives."""
