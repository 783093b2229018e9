"""nki.language by subject."""
