"""Pages that join several features."""
