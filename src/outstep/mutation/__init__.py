"""Mutations: good traces broken as agents really fail, and contracts made weaker (docs/mutation.md)."""
