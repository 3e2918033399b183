"""The keys that tokens are signed with: staged, sealed in SQL, published as a JWK Set."""
