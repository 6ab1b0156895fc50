"""Where reproductions lie: one folder of small result files that can be copied anywhere, and the run folders beside it.

OUT/SIZE/results/GROUP.NAME.sSEED.json    scores, settings, seconds, curves: all that tables and figures need
OUT/SIZE/runs/GROUP.NAME/seed_SEED/       the run itself, with its checkpoints; log.txt is what it printed
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from charm.config import to_json
from charm.errors import CharmError
from charm.files import read_sealed, write_sealed
from charm.paper.variants import SizeName, Variant

Result = dict[str, Any]
# Fields of a configuration that change neither what is computed nor how it is judged.
PLACES = (
    "device",
    "compile",
    "graphs",
    "accumulate",
    "device_rows",
    "tensorboard",
    "wandb",
    "keep_checkpoints",
)


@dataclass(frozen=True)
class Shelf:
    """The results of one size in a folder."""

    out: Path
    size: SizeName
    data: Path | None = None
    """Where downloaded and generated data lie, if not where presets look."""

    def config(self, variant: Variant, seed: int) -> Any:
        """What a run computes, with the data where they are here."""
        config = variant.at(self.size, seed)
        if self.data is None:
            return config
        if hasattr(config.data, "data"):
            return replace(config, data=replace(config.data, data=self.data))
        return replace(config, data=self.data)

    def result_path(self, variant: Variant, seed: int) -> Path:
        return self.out / self.size / "results" / f"{variant.home(self.size)}.s{seed}.json"

    def run_folder(self, variant: Variant, seed: int) -> Path:
        return self.out / self.size / "runs" / variant.home(self.size) / f"seed_{seed}"

    def read(self, variant: Variant, seed: int) -> Result | None:
        """A finished result; None where there is none. One that was made with other settings is refused."""
        path = self.result_path(variant, seed)
        if not path.is_file():
            return None
        found: Result = read_sealed(path)
        made, wanted = found.get("settings"), identity(self.config(variant, seed))
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


def identity(config: Any) -> dict[str, Any]:
    """The settings that a result belongs to."""
    found: dict[str, Any] = to_json(config)
    for name in PLACES:
        found.pop(name, None)
    if isinstance(found["data"], dict):
        found["data"].pop("data", None)
    else:
        found.pop("data")
    return found
