"""Other networks as the routing registry knows them: who they are, and what they may originate."""
