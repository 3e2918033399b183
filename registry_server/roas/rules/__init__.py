"""From routes to ROAs, and from ROAs to files and to the words of routers."""
