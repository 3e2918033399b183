"""Registry objects: how one is read, what is wrong with it, and where it is stored."""
