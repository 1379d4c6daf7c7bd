"""Laws that every kind obeys (SEMANTICS section 9), held on the engine with the reference at its side."""
