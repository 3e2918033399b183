"""What the routing registry says: a git registry mirrored into SQL and answered over HTTP."""
