"""What the registry itself says an object of each class is made of: its schema objects, read as data."""
