"""Commands: parse, call the library, print. Nothing here computes."""
