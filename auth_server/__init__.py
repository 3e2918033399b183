"""Who someone is: accounts, passkeys, OAuth 2.0 and OpenID Connect."""
