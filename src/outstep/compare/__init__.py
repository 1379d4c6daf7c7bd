"""What changed between two traces, two reports, or many runs, and whether that is more than chance.

docs: docs/compare.md, docs/batteries.md#compare
"""
