"""Evidence: raw documents kept as they were, an append-only log of what was judged, and proofs for outsiders.

docs: docs/evidence.md
"""
