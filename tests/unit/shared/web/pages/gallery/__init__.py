"""Every macro and layout with sample data, served as pages that can be looked at."""
