"""What two processes agree on: shapes and names, versioned, without behaviour."""
