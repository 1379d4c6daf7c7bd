"""Live runs: scenarios driven, written down and judged (docs/live.md)."""
