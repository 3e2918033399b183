"""Facts, what follows from them, and what is published."""
