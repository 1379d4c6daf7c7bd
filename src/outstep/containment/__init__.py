"""Containment reports and what is compared of them: plain data (docs/batteries.md)."""
