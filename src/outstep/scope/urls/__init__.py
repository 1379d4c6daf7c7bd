"""URLs: two readings that have to agree on the host, and patterns compared label by label.

docs: docs/scope.md, section *URLs*
"""
