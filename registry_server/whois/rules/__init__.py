"""How questions are read and answered from a snapshot."""
