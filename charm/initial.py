"""How weights begin."""

import torch
from torch import Tensor

# Standard deviation of a standard normal cut at +-2: sqrt(1 - 4 phi(2) / (2 Phi(2) - 1)).
CUT_STD = 0.8796256610342398


@torch.no_grad()
def truncated_normal_(tensor: Tensor, std: float, generator: torch.Generator | None = None) -> Tensor:
    """Fill with a normal cut off at two of its standard deviations; `std` holds after the cut.

    Values outside are drawn again. torch's trunc_normal_ is not used because it changed between releases, and a seed
    must give the same weights in all of them.
    """
    if tensor.is_meta:  # counted, not drawn
        return tensor
    sigma = std / CUT_STD
    tensor.normal_(0, sigma, generator=generator)
    while (outside := tensor.abs() > 2 * sigma).any():
        again = torch.empty_like(tensor).normal_(0, sigma, generator=generator)
        tensor.copy_(torch.where(outside, again, tensor))
    return tensor
