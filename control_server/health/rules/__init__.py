"""Pure decisions of health: what reports say, how a node is, and what needs a person."""
