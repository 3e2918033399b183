"""Pure decisions of history: rows of commits, kinds of changes, differences of texts."""
