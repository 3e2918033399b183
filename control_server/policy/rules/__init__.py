"""How changes are read by people, and what the policy's form means."""
