"""Re-ARC2: one generator and one verifier for each ARC-AGI-2 training task that Re-ARC does not cover.

`tasks/<id>.py` is a package (the rule, `generate`, `verify`), `helpers` the library they share, `checks/<id>.json`
what `charm rearc2 check` found, and `ids.txt` the 609 tasks. docs/rearc2.md tells how to write one.
"""
