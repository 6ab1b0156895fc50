"""Write generated Re-ARC2 pairs in formats that other projects read.

- Re-ARC's own folder: `tasks/<id>.json`, each a list of {"input": rows, "output": rows}.
- A Hugging Face data set folder: `README.md` (the card) and `data/train-*.parquet`, one row for each pair.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from charm.errors import CharmError, charm_errors
from charm.files import whole_folder
from charm.tasks.pairs_file import Manifest, PairBlock, load_pairs, read_manifest
from charm.tasks.task import Grid

if TYPE_CHECKING:
    import pyarrow

FORMATS = ("rearc", "huggingface")
TASKS_PER_FILE = 100  # of parquet; about 100,000 pairs


def export_pairs(source: Path, target: Path, form: str) -> Manifest:
    """Export the folder of pairs `source` to a new folder, which is created completely or not at all."""
    if form not in FORMATS:
        raise CharmError(f"format must be one of {', '.join(FORMATS)}; got {form}")
    if target.exists() and any(target.iterdir()):
        raise CharmError(f"{target}: folder is not empty; choose another")
    manifest = read_manifest(source)
    blocks = load_pairs(source)
    with charm_errors(f"{target} cannot be written", OSError), whole_folder(target) as scratch:
        if form == "rearc":
            _write_tasks(scratch / "tasks", blocks)
        else:
            _write_parquet(scratch / "data", blocks)
            (scratch / "README.md").write_text(card(manifest), "utf-8")
    return manifest


def _write_tasks(folder: Path, blocks: Mapping[str, PairBlock]) -> None:
    folder.mkdir()
    for task, block in blocks.items():
        pairs = [{"input": pair.input.tolist(), "output": pair.grids()[1].tolist()} for pair in block.pairs()]
        (folder / f"{task}.json").write_text(json.dumps(pairs, separators=(",", ":")), "utf-8")


def _write_parquet(folder: Path, blocks: Mapping[str, PairBlock]) -> None:
    """Write one row group per task, so that a task can be read alone."""
    with charm_errors("writing parquet needs pyarrow; pip install 'charm-arc[language]'", ImportError):
        import pyarrow.parquet
    folder.mkdir()
    tasks = list(blocks)
    parts = [tasks[first : first + TASKS_PER_FILE] for first in range(0, len(tasks), TASKS_PER_FILE)]
    for number, part in enumerate(parts):
        path = folder / f"train-{number:05d}-of-{len(parts):05d}.parquet"
        schema = _table(part[0], blocks[part[0]]).schema
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for task in part:
                writer.write_table(_table(task, blocks[task]))


def _table(task: str, block: PairBlock) -> pyarrow.Table:
    import pyarrow

    before, after = zip(*(pair.grids() for pair in block.pairs()), strict=True)
    columns = {
        "task": pyarrow.array([task] * len(block), pyarrow.string()),
        "attempt": pyarrow.array(block.index, pyarrow.uint32()),
        "input": _grids(before),
        "output": _grids(after),
    }
    return pyarrow.table(columns)


def _grids(grids: Sequence[Grid]) -> pyarrow.Array:
    """Return a column of lists of rows."""
    import pyarrow

    rows = np.repeat([grid.shape[1] for grid in grids], [grid.shape[0] for grid in grids])
    row_ends = np.concatenate([[0], rows.cumsum()]).astype(np.int32)
    grid_ends = np.cumsum([0, *(grid.shape[0] for grid in grids)]).astype(np.int32)
    cells = pyarrow.array(np.concatenate([grid.ravel() for grid in grids]), pyarrow.uint8())
    lines = pyarrow.ListArray.from_arrays(pyarrow.array(row_ends), cells)
    return pyarrow.ListArray.from_arrays(pyarrow.array(grid_ends), lines)


def card(manifest: Manifest) -> str:
    """Write the data set's card: its content and how it was produced."""
    plan, records = manifest.plan, manifest.tasks.values()
    pairs = sum(record.pairs for record in records)
    sizes = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"))
    size = next((name for limit, name in sizes if pairs < limit), "1M<n<10M")
    return f"""---
license: apache-2.0
pretty_name: Re-ARC2
tags:
- arc-agi
- reasoning
- synthetic
size_categories:
- {size}
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*.parquet
---

# Re-ARC2

Generated input-output pairs for ARC-AGI-2 training tasks that Re-ARC does not cover:
{len(records):,} tasks, {pairs:,} pairs, about {plan.pairs:,} for each task.

- The tasks and their rules are those of [ARC-AGI-2](https://github.com/arcprize/ARC-AGI-2) (Apache-2.0) by Chollet,
  Knoop, Kamradt, Landers and Pinkard; many of them come from ARC-AGI-1 by Chollet.
- Each task has a generator and an independent verifier, which derives the output from the input alone.
- The verifier reproduces the official pairs of its task (declared official errors aside) and confirms every pair here.
- No pair has the input of an official pair.
- Where the official pairs allow several readings that we know of, only pairs on which these agree are drawn.

| column | type | meaning |
|---|---|---|
| `task` | string | id of the ARC-AGI-2 training task |
| `attempt` | integer | number of the draw; with the seed and the package's version it makes the same pair again |
| `input`, `output` | list of rows | colours 0 to 9 |

    from datasets import load_dataset

    pairs = load_dataset("PATH", split="train")

Produced by CHARM (`charm rearc2 build --seed {plan.seed} --pairs {plan.pairs}`, {plan.version}). The official pairs
themselves are not in it.
"""
