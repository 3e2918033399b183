"""What agents say of their nodes: what became of a generation, what runs, what differs."""
