"""What joins several features: a person's own page, and the administration of people."""
