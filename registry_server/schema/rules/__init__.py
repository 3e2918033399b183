"""Pure decisions of this feature: reading schemas, and holding objects against them."""
