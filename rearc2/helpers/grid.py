"""The two array types."""

import numpy as np
import numpy.typing as npt

Grid = npt.NDArray[np.int64]  # [height, width], colours 0..9
Mask = npt.NDArray[np.bool_]  # [height, width]
