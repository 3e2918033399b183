"""How a sample is made up: pure functions of a seed."""
