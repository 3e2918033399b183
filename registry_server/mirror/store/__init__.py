"""What a mirror keeps outside SQL: the bare repository, and the version that readers of the cache go by."""
