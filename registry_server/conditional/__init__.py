"""Conditional requests: who has an answer already is not sent it again."""
