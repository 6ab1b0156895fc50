"""A voting rule of your own in one file: what puts a candidate first. docs/extend.md explains it.

python examples/voting_rule.py eval runs/quickstart --protocol continual --loops 2 --order surest
"""

from charm.cli import main
from charm.evaluation.protocols import ORDERS, Floats

import numpy as np


def surest(weight_K: Floats, confidence_K: Floats) -> Floats:
    """The most confident candidate among those with more than one vote."""
    return np.where(weight_K > 1, confidence_K, 0.0)


ORDERS["surest"] = surest

if __name__ == "__main__":
    main()
