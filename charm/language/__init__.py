"""A GPT with n-gram memory: Engram, CoSE and CoSE-Mixture beside the stock backbone (see docs/language.md)."""
