"""The `routeloom` command, and Lite: the three services in one process."""
