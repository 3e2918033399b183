"""What a tool's output says, as data. A parser never raises, whatever it is given."""
