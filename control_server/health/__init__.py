"""How nodes are, why, since when, and what was before."""
