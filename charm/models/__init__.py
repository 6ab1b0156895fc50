"""The networks that answer tasks, and the model: a network under the memory of a structured key.

Nothing is imported here on purpose: `charm.models.config` stays readable without loading torch.
"""
