"""Writes `docs/reference/` from the code: settings, errors, metrics, keys, commands, HTTP interfaces."""
