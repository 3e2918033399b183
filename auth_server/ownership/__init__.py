"""Proof of maintainership: a person signs a challenge with a key that the registry lists for a maintainer."""
