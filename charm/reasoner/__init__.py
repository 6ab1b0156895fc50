"""The recurrent reasoner: `config` says its shape, `backbone` is the network and runs it to an answer.

Nothing is imported here on purpose: `charm.reasoner.config` stays readable without loading torch.
"""
