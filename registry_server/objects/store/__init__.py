"""A process that reads registry objects beside the one that stores them."""
