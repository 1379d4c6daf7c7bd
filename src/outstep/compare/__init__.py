"""Comparisons of saved reports (docs/batteries.md#compare)."""
