"""What every HTTP service here has: the app builder, refusals, request ids, logs, health, streams, pages."""
