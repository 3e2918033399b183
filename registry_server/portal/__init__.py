"""The registry's pages: search, objects with their links and lives, and how the mirror stands."""
