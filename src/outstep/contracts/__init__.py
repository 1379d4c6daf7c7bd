"""Contracts: what an agent must do, must not do, and may only say with evidence."""
