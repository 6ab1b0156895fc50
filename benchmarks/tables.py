"""What a table of instance rows costs on 1 to 1,024 devices, and a check of its byte counts.

python benchmarks/tables.py              # the cost model, as in docs/distributed.md
python benchmarks/tables.py --measure    # what 1, 2 and 4 processes actually send over gloo, compared with the model
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
import torch.distributed as dist
import torch.distributed.nn  # before a group lives, see charm.devices.place
import torch.multiprocessing as mp

from charm.memory import RowSignSGD, RowTable
from charm.memory.sharding import shard_rows

WORLDS = (1, 8, 64, 1024)
ROWS = (10**6, 10**7, 10**8, 10**9)
COLUMNS = 32
SLOTS_EACH = 96  # examples of a process: the paper's batch of 768 on eight
BANDWIDTH, LATENCY = 50e9, 5e-6  # assumed: a 400 Gb/s link for each device, a message
FLOAT, ID = 4, 8  # bytes


class Traffic(NamedTuple):
    """Traffic of one process in one update."""

    bytes: int
    messages: int


@dataclass(frozen=True)
class TableCost:
    """A table of `rows` x `columns` float32, of which an update reads `batch` rows over all processes."""

    rows: int
    columns: int
    batch: int
    world: int
    sharded: bool = True

    @property
    def held(self) -> int:
        """Bytes of the table on each device. RowSignSGD needs nothing more, RowAdamW two more such tables."""
        divided = self.sharded and self.world > 1
        rows = -(-self.rows // self.world) + 1 if divided else self.rows  # our part, and a spare row
        return FLOAT * self.columns * rows

    @property
    def sent(self) -> Traffic:
        """Sharded: ids to all, vectors back, gradients to all. Replicated: ids and gradients to all."""
        others = self.world - 1
        vector = FLOAT * self.columns
        each = ID + (2 if self.sharded else 1) * vector
        collectives = 3 if self.sharded else 2
        return Traffic(others * (self.batch // self.world) * each, others * collectives)

    def seconds(self, bandwidth: float, latency: float) -> float:
        """Time of the exchange in an update, from bytes per second and seconds per message of one process."""
        return self.sent.bytes / bandwidth + self.sent.messages * latency


def dense_traffic(parameters: int, world: int) -> Traffic:
    """Count the cost of summing dense float32 gradients over all processes as a ring."""
    return Traffic(2 * (world - 1) * -(-FLOAT * parameters // world), 2 * (world - 1))


def bytes_text(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def table() -> list[str]:
    """Return the cost model as lines of Markdown."""
    lines = [
        "| devices | "
        + " | ".join(f"stored, {rows:.0e} rows".replace("e+0", "e") for rows in ROWS)
        + " | sent, sharded | sent, whole | time, sharded |",
        "|" + "---|" * (len(ROWS) + 4),
    ]
    for world in WORLDS:
        costs = [TableCost(rows, COLUMNS, SLOTS_EACH * world, world) for rows in ROWS]
        whole = TableCost(ROWS[0], COLUMNS, SLOTS_EACH * world, world, sharded=False)
        cells = [bytes_text(cost.held) for cost in costs]
        cells += [bytes_text(cost.sent.bytes) for cost in (costs[0], whole)]
        cells.append(f"{1e3 * costs[0].seconds(BANDWIDTH, LATENCY):.2g} ms")
        lines.append(f"| {world:,} | " + " | ".join(cells) + " |")
    return lines


def written() -> int:
    """Return the bytes that this process has written to files and sockets so far; Linux counts them."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


def exchange(rank: int, world: int, folder: str, cost: TableCost, updates: int) -> None:
    """Update one table in all processes, and write the mean number of bytes that an update sent to a file."""
    torch.set_num_threads(1)
    if world > 1:
        dist.init_process_group("gloo", f"file://{folder}/group", rank=rank, world_size=world)
    table = RowTable(cost.rows, cost.columns)
    if cost.sharded:
        shard_rows([table.rows], rank, world)
    optimizer = RowSignSGD(table.row_parameters(), gather=not cost.sharded)
    # Distinct rows: what the CPU merges would not be sent.
    ids = torch.randperm(cost.rows, generator=torch.Generator().manual_seed(0))[: cost.batch].chunk(world)[rank]

    def update() -> None:
        table({"row": ids}).sum().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    update()  # connects
    if world > 1:
        dist.barrier()
    before = written()
    for _ in range(updates):
        update()
    sent = (written() - before) / updates
    if world > 1:
        dist.barrier()
        dist.destroy_process_group()
    Path(folder, str(rank)).write_text(str(sent))


def measure(cost: TableCost, updates: int = 20) -> list[float]:
    """Measure the bytes that each process really sends in an update."""
    with tempfile.TemporaryDirectory() as folder:
        # Forked by a server that imports torch once for all.
        mp.start_processes(exchange, (cost.world, folder, cost, updates), cost.world, start_method="forkserver")
        return [float(Path(folder, str(rank)).read_text()) for rank in range(cost.world)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="count the bytes of 1, 2 and 4 processes")
    if not parser.parse_args().measure:
        print("\n".join(table()))
        return
    multiprocessing.set_forkserver_preload(["charm.memory.sharding"])
    for sharded in (True, False):
        for world in (1, 2, 4):
            cost = TableCost(10_000, COLUMNS, SLOTS_EACH * world, world, sharded)
            found = max(measure(cost))
            kind = "divided" if sharded else "whole"
            print(f"{world} processes, {kind}: model {cost.sent.bytes:,} bytes, sent {found:,.0f}")


if __name__ == "__main__":
    main()
