"""The agent's link to the server: connect, greet, beat, send what is owed, come back."""
