"""The three services in one process, on one port, with SQLite files and a local agent."""
