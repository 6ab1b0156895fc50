"""CoSE for keys of your own: what does a user feel about an item at an hour of the day?

The truth has structure (a taste, bent by item and hour) and an exception to every single combination.
Each memory learns 3,000 of the 3,840 combinations and is then asked about all of them.
"""

from charm.memory import CoSE, Film, Lookup, RowAdamW, RowTable, TableMemory

import torch

USERS, ITEMS, HOURS, SEEN, WIDTH, RANK = 40, 12, 8, 3000, 16, 4
torch.manual_seed(0)

# Every (user, item, hour) in random order. The seen ones have their own rows, the others share the blank row 0.
keys = torch.cartesian_prod(torch.arange(USERS), torch.arange(ITEMS), torch.arange(HOURS))
user, item, hour = keys[torch.randperm(len(keys))].unbind(1)
number = torch.arange(len(keys))
key = {"user": user, "item": item, "hour": hour, "row": torch.where(number < SEEN, number + 1, 0)}
seen = {field: ids[:SEEN] for field, ids in key.items()}

users, items, hours = (torch.randn(size, WIDTH) for size in (USERS, ITEMS, HOURS))
bend = torch.cat([items[item], hours[hour]], 1) @ torch.randn(2 * WIDTH, WIDTH) / 8
exception = torch.randn(len(keys), RANK) @ torch.randn(RANK, WIDTH) / 2
truth = (1 + bend) * users[user] + items[item] + hours[hour] + exception
observed = truth[:SEEN] + 0.3 * torch.randn(SEEN, WIDTH)


def cose(residual: RowTable | None) -> CoSE:
    modifiers = [Lookup("item", ITEMS, WIDTH), Lookup("hour", HOURS, WIDTH)]
    return CoSE(Lookup("user", USERS, WIDTH), modifiers, Film(WIDTH), residual)


def rows() -> RowTable:
    return RowTable(SEEN + 1, WIDTH, RANK, reserved_row=True)


print(f"{'memory':<16}{'parameters':>12}{'error, seen':>13}{'error, unseen':>15}")
for name, memory in (
    ("low-rank table", TableMemory(rows())),
    ("composition", cose(None)),
    ("CoSE", cose(rows())),
):
    # What is shared learns with any optimizer; what is private, row by row.
    optimizers: list[torch.optim.Optimizer] = [torch.optim.Adam(memory.dense_parameters(), lr=1e-2)]
    if memory.row_parameters():
        optimizers.append(RowAdamW(memory.row_parameters(), lr=1e-2))
    for _ in range(300):
        memory.zero_grad()
        (memory(seen) - observed).square().mean().backward()
        for optimizer in optimizers:
            optimizer.step()
    with torch.no_grad():
        error = (memory(key) - truth).square().mean(1)
    count = sum(parameter.numel() for parameter in memory.parameters())
    print(f"{name:<16}{count:>12,}{error[:SEEN].mean():>13.3f}{error[SEEN:].mean():>15.3f}")
