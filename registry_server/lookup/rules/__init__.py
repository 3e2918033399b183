"""Pure decisions of look-ups: from stored attributes to what is answered."""
