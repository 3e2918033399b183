"""Signing in where no browser is: a code that is confirmed on another device (RFC 8628)."""
