"""Decisions about challenges, what was pasted, and signatures. Nothing here touches the world."""
