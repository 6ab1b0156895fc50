"""How often an answer with a share of the votes is right.

Measured with a canvas, the released speedrun, on 416 test inputs with four views. All answers are in
benchmarks/results/votes_speedrun.json; a test fits the table again and holds tasks out. Writers have no such record.
"""

from __future__ import annotations

import numpy as np

# Share of the votes -> share of right answers, of both attempts together.
RIGHT = ((0.0, 0.0), (0.25, 0.046), (0.5, 0.248), (0.75, 0.511), (1.0, 0.932))


def chance(share: float) -> float:
    """Return the probability that an answer with this share of the votes is right, linear between measured shares."""
    shares, right = zip(*RIGHT, strict=True)
    return float(np.interp(share, shares, right))
