"""CHARM: a compact recurrent reasoner for ARC-AGI with structured sparse task memory."""

__version__ = "0.1.0"
