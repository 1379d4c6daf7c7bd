"""What raw documents are stored in: one module a container."""
