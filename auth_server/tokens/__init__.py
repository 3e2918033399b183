"""What clients are given: grants as families of codes, access and refresh tokens, and how they end."""
