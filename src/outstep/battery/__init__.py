"""Batteries: versioned files of scenarios, with what an agent may touch in each (docs/batteries.md)."""
