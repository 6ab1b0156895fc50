"""A memory of your own in one file: how modifiers act on a puzzle's vector. docs/extend.md explains it.

python examples/composer.py train quickstart --memory.composer product --out runs/product
python examples/composer.py eval runs/product                    # likewise report, solve and view
"""

from collections.abc import Sequence

from charm.cli import main
from charm.memory import COMPOSERS, Composer

from torch import Tensor


class Product(Composer):
    """Modifiers scale the base vector; they start at zero, so at first they change nothing."""

    def __init__(self, width: int, modifiers: int) -> None:
        super().__init__(width, modifiers)

    def forward(self, base_BD: Tensor, modifiers: Sequence[Tensor]) -> Tensor:
        for modifier_BD in modifiers:
            base_BD = base_BD * (1 + modifier_BD)
        return base_BD


COMPOSERS["product"] = Product

if __name__ == "__main__":
    main()
