"""Redaction: personal data and secrets leave a raw document before it is kept, and the document stays readable.

Pure: equal bytes, rules and key give equal bytes. docs: docs/redaction.md
"""
