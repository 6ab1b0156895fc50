"""Tools for authors of Re-ARC2 packages: find, check, preview and export them. `charm rearc2` is their command."""
