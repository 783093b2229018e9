"""nki.isa by subject."""
