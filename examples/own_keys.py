"""CoSE for keys of your own: what does a user feel about an item at an hour of the day?

    python examples/own_keys.py

The truth has structure (a user's taste, bent by item and hour) and exceptions (something particular to every
single combination). Composition alone misses the exceptions, a narrow table alone misses the structure.
Observations are noisy; the errors are measured against the truth.
"""

import torch
from torch import Tensor

from charm.memory import CoSE, Film, Key, Lookup, MemoryModule, RowTable, TableMemory
from charm.training.rows import RowAdamW

USERS, ITEMS, HOURS, WIDTH, RANK = 40, 12, 8, 16, 4
SEEN = 3000  # of 3840 combinations; the others share the blank row 0


def world(seed: int) -> tuple[Key, Tensor]:
    """Every (user, item, hour) in random order, the seen ones first, and the vector that belongs to it."""
    rng = torch.Generator().manual_seed(seed)
    sizes = (USERS, ITEMS, HOURS, 2 * WIDTH)
    users, items, hours, bend = (torch.randn(size, WIDTH, generator=rng) for size in sizes)
    grid = torch.cartesian_prod(torch.arange(USERS), torch.arange(ITEMS), torch.arange(HOURS))
    user, item, hour = grid[torch.randperm(len(grid), generator=rng)].unbind(dim=1)
    number = torch.arange(len(grid))
    key = {"user": user, "item": item, "hour": hour, "row": torch.where(number < SEEN, number + 1, 0)}
    scale = torch.cat([items[item], hours[hour]], dim=1) @ bend / 8
    exception = torch.randn(len(grid), RANK, generator=rng) @ torch.randn(RANK, WIDTH, generator=rng) / 2
    return key, (1 + scale) * users[user] + items[item] + hours[hour] + exception


def fit(memory: MemoryModule, key: Key, observed: Tensor, steps: int = 300) -> None:
    """Adam for what is shared, row by row for what is private; only the seen combinations are shown."""
    dense = torch.optim.Adam(memory.dense_parameters(), lr=1e-2)
    rows = RowAdamW(memory.row_parameters(), lr=1e-2) if memory.row_parameters() else None
    seen = {field: ids[:SEEN] for field, ids in key.items()}
    for _ in range(steps):
        memory.zero_grad()
        (memory(seen) - observed).square().mean().backward()
        dense.step()
        if rows is not None:
            rows.step()


def cose(residual: RowTable | None) -> CoSE:
    modifiers = [Lookup("item", ITEMS, WIDTH), Lookup("hour", HOURS, WIDTH)]
    return CoSE(Lookup("user", USERS, WIDTH), modifiers, Film(WIDTH), residual)


def main() -> None:
    torch.manual_seed(0)
    key, truth = world(seed=0)
    observed = truth[:SEEN] + 0.3 * torch.randn(SEEN, WIDTH)
    memories: dict[str, MemoryModule] = {
        "low-rank table": TableMemory(RowTable(SEEN + 1, WIDTH, RANK, reserved_row=True)),
        "composition": cose(residual=None),
        "CoSE": cose(RowTable(SEEN + 1, WIDTH, RANK, reserved_row=True)),
    }
    print(f"{'memory':<16}{'parameters':>12}{'error, seen':>13}{'error, unseen':>15}")
    for name, memory in memories.items():
        fit(memory, key, observed)
        with torch.no_grad():
            errors = (memory(key) - truth).square().mean(dim=1)
        count = sum(parameter.numel() for parameter in memory.parameters())
        print(f"{name:<16}{count:>12,}{errors[:SEEN].mean():>13.3f}{errors[SEEN:].mean():>15.3f}")


if __name__ == "__main__":
    main()
