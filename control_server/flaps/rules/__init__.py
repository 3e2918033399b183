"""Pure decisions of flaps: what a score is, what happened to whom, and how it is written down."""
