"""The folder of a reproduction: small result files that can be copied anywhere, and next to them the run folders.

OUT/SIZE/results/GROUP.NAME.sSEED.json    scores, settings, seconds, curves: all that tables and figures need
OUT/SIZE/runs/GROUP.NAME/seed_SEED/       the run itself, with its checkpoints; log.txt is what it printed
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from charm.automata import benchmark
from charm.automata.run import CarConfig
from charm.config import from_json, to_json
from charm.continual.run import StreamOptions
from charm.continual.streams import TaskStream
from charm.errors import CharmError
from charm.files import read_sealed, write_sealed
from charm.language.config import LMConfig
from charm.paper.sizes import LONGEST_PAIR, PAIRS, UNSEEN, SizeName, stream_tasks
from charm.paper.variants import Variant
from charm.paths import data_dir
from charm.runs.settings import TrainConfig
from charm.tasks.pairs_file import (
    MANIFEST,
    Manifest,
    TaskRecord,
    load_pairs,
    pack_pairs,
    read_manifest,
    write_block,
    write_manifest,
)
from charm.tasks.sources import load_source
from charm.tasks.task import Pair

Result = dict[str, Any]
# Fields of a configuration that change neither what is computed nor how it is judged.
PLACES = (
    *("device", "compile", "graphs", "accumulate", "device_rows"),
    *("tensorboard", "wandb", "keep_checkpoints"),
)


@dataclass(frozen=True)
class Shelf:
    """The results of one size in one folder."""

    out: Path
    size: SizeName
    data: Path | None = None
    """Folder of downloaded and generated data; None is the presets' default."""

    def config(self, variant: Variant, seed: int) -> Any:
        """The configuration of a run, with this shelf's data folder."""
        config = variant.at(self.size, seed)
        if isinstance(config, StreamOptions):
            stream = str(self._stream_path()) if config.stream == UNSEEN else config.stream
            return replace(config, stream=stream, data=self.data)
        if isinstance(config, CarConfig) and self.size != "full":
            return replace(config, data=replace(config.data, data=self._own_data()))
        if isinstance(config, LMConfig):
            return replace(config, data=data_dir(self.data) / variant.size(self.size).text)
        if self._chooses_pairs(config):
            return replace(config, data=replace(config.data, data=self._own_data()))
        return config if self.data is None else replace(config, data=replace(config.data, data=self.data))

    def _chooses_pairs(self, config: Any) -> bool:
        """Whether a run learns from some of the synthetic pairs only."""
        return self.size == "small" and isinstance(config, TrainConfig) and config.data.partial

    def prepare(self, variants: Iterable[Variant]) -> None:
        """Write the files that runs of the smaller sizes read: their stream, benchmark and synthetic pairs."""
        configs = [variant.at(self.size) for variant in variants]
        if any(isinstance(one, StreamOptions) and one.stream == UNSEEN for one in configs):
            tasks = {
                task.id: task
                for split in ("training", "evaluation")
                for task in load_source(f"arc1/{split}").tasks
            }
            stream = TaskStream(UNSEEN, tuple(tasks[one] for one in stream_tasks(self.size)))
            stream.save(self._stream_path())
        for config in configs:
            if self._chooses_pairs(config):
                for provider in config.data.synthetic:
                    choose_pairs(
                        data_dir(self.data) / provider, self._own_data() / provider, config.data.tasks
                    )
        automata = next((config for config in configs if isinstance(config, CarConfig)), None)
        folder = self._own_data() / "car"
        if automata and self.size != "full" and not (folder / benchmark.MANIFEST).is_file():
            benchmark.write_benchmark(folder, benchmark.build(automata.data.benchmark))

    def _stream_path(self) -> Path:
        return self.out / self.size / "stream" / f"{UNSEEN}.json"

    def _own_data(self) -> Path:
        return self.out / self.size / "data"

    def result_path(self, variant: Variant, seed: int) -> Path:
        return self.out / self.size / "results" / f"{variant.home(self.size)}.s{seed}.json"

    def run_folder(self, variant: Variant, seed: int) -> Path:
        return self.out / self.size / "runs" / variant.home(self.size) / f"seed_{seed}"

    def read(self, variant: Variant, seed: int) -> Result | None:
        """The result of a finished run; None if there is none. Raise if it was made with other settings."""
        path = self.result_path(variant, seed)
        if not path.is_file():
            return None
        found: Result = read_sealed(path)
        config = variant.at(self.size, seed)
        made, wanted = found.get("settings"), identity(config)
        with suppress(CharmError):  # fields that are newer than the result had their default value
            made = identity(from_json(type(config), made))
        if made != wanted:
            names = [name for name in wanted if not isinstance(made, dict) or made.get(name) != wanted[name]]
            raise CharmError(
                f"{path} was made with other settings ({', '.join(names) or 'more fields'}); delete it to run the "
                f"variant again, or use another --out"
            )
        return found

    def write(self, variant: Variant, seed: int, result: Result) -> Path:
        path = self.result_path(variant, seed)
        write_sealed(path, result)
        return path


def choose_pairs(source: Path, target: Path, tasks: Iterable[str]) -> None:
    """Write a folder with the first pairs of some tasks that have no long side, unless it is there."""
    if (target / MANIFEST).is_file():
        return
    found = read_manifest(source)
    chosen = Manifest(replace(found.plan, pairs=PAIRS))
    for task, block in load_pairs(source, set(tasks) & set(found.tasks)).items():
        numbers = np.flatnonzero(block.shapes[:PAIRS].max(axis=1) <= LONGEST_PAIR).tolist()
        if numbers:
            kept = pack_pairs([Pair(*block.pair(n)) for n in numbers], block.index[numbers].tolist())
            write_block(target, task, kept)
            why = f"pairs with sides beyond {LONGEST_PAIR} are left out"
            chosen.tasks[task] = TaskRecord(len(kept), PAIRS, {}, kept.content(), why)
    write_manifest(target, chosen)


def identity(config: Any) -> dict[str, Any]:
    """The settings that identify a result."""
    found: dict[str, Any] = to_json(config)
    for name in PLACES:
        found.pop(name, None)
    data = found.pop("data")
    if isinstance(data, dict):
        found["data"] = {name: value for name, value in data.items() if name != "data"}
    return found
