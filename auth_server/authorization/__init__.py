"""The authorization endpoint: who asks for what, whether the person agrees, and the code that says so."""
