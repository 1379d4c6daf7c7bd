"""The one place where parts meet: paths and contracts in, a report out (ARCHITECTURE.md).

Everything that the world can change (files, the cache, processes, the day) comes in here, from the caller.
"""
