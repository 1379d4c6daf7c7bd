"""Where it went wrong: readings of one finding, each with the events it rests on (docs/attribution.md)."""
