"""What we do with ROAs: export them as files, and keep routers up to date."""
