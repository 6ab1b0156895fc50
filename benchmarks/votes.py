"""Votes of one ARC-AGI-1 checkpoint, timed: the same as `charm bench votes --json`.

python -m benchmarks.votes
"""

import json

from charm.bench.votes import measure

if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
