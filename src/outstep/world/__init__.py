"""Worlds: mock tools over a small state, which record what really happened (docs/worlds.md)."""
