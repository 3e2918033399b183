"""The `routeloom` command."""
