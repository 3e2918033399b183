"""BIRD's control socket: framing, commands, and what the answers mean."""
