"""JSON routes of look-ups. What a registry says is public."""
