"""How a person proves who they are: passkeys, their ceremonies, and recovery codes."""
