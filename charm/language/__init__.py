"""A GPT with n-gram memory: Engram, CoSE and CoSE-Mixture added to the stock backbone (see docs/language.md)."""
