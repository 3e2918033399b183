"""Who changed which object when: an index of the registry's commits, and the difference that each made."""
