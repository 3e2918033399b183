"""The audit trail that every service keeps in its own database: who did what, from where."""
