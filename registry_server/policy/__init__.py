"""What the registry's own rules say of a change: who may change, add or take what, and under which name."""
