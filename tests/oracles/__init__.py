"""Other programs whose answers ours are compared with: run once to be recorded, not in the suite."""
