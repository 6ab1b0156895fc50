"""The cost model of tables, against bytes that processes really hold and send."""

from pathlib import Path

import pytest
import torch

from benchmarks.tables import TableCost, dense_traffic, measure, table
from charm.memory import RowTable
from charm.memory.parts import RowShard
from charm.tasks.keys import ArcKey, Keys, MemoryConfig
from tests.toy.models import some_instances

HEADER = 288  # bytes of gloo's headers for a message at most
LENGTH = 8  # a process without sharded tables sends the others its number of entries


@pytest.mark.skipif(not Path("/proc/self/io").is_file(), reason="only Linux counts the bytes of a process")
@pytest.mark.parametrize("sharded", [True, False])
@pytest.mark.parametrize("world", [1, 2, 4])
def test_processes_send_what_the_model_says(world: int, sharded: bool) -> None:
    cost = TableCost(rows=500, columns=16, batch=24 * world, world=world, sharded=sharded)
    for sent in measure(cost, updates=5):
        beyond = sent - cost.sent.bytes
        messages = cost.sent.messages + (0 if sharded else world - 1)
        assert 0 <= beyond <= messages * (HEADER + (0 if sharded else LENGTH))
        assert bool(beyond) == (world > 1)


@pytest.mark.parametrize(("rows", "world"), [(500, 1), (500, 4), (501, 4)])
def test_processes_hold_what_the_model_says(rows: int, world: int) -> None:
    whole = RowTable(rows, 16).rows.weight
    part = RowShard(0, world, rows).part(whole) if world > 1 else whole
    assert part.numel() * part.element_size() == TableCost(rows, 16, 8, world).held
    assert TableCost(rows, 16, 8, world, sharded=False).held == whole.numel() * whole.element_size()


def test_the_sum_of_dense_gradients_by_hand() -> None:
    assert dense_traffic(1000, 1) == (0, 0)
    assert dense_traffic(1000, 4) == (6000, 6)  # half of it to add up, half to hand out: 2 * 3/4 * 4,000


def test_the_pages_have_this_table_and_the_bytes_of_a_key() -> None:
    log, page = ((Path(__file__).parents[2] / "docs" / name).read_text() for name in ("LOG.md", "distributed.md"))
    assert "\n".join(table()) in log
    mega = [dense_traffic(13_663_233, world).bytes / 1e6 for world in (8, 1024)]
    assert "sends {:.0f} MB from each of 8 devices and {:.0f} MB from each of 1,024".format(*mega) in log
    instances = some_instances()
    columns = [torch.from_numpy(one) for one in ArcKey(instances).columns(MemoryConfig()).values()]
    columns += list(vars(Keys.of(instances)).values())
    each = sum(one.numel() * one.element_size() for one in columns) // len(instances)
    assert f"{each} bytes on every device, {each} GB for a billion rows" in page
