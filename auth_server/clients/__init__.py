"""The programs that may ask who somebody is: their registration and how they authenticate."""
