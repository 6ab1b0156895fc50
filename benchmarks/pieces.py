"""Keep a piece of a long training in 8 bits: half of what bfloat16 takes, to be carried to the next machine.

python -m benchmarks.pieces pack WEIGHTS pieces/large-1
python -m benchmarks.pieces unpack pieces/large-1 WEIGHTS      a saved model again, to continue from

Each row of a matrix is rounded to 255 steps of its largest value. `tests/bench/test_pieces.py` bounds the error.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from charm.files import read_sealed
from charm.models.model import RECORD, TRAINING, CharmModel, check_saved, read_model_config

ROUNDED = "rounded.safetensors"
STEPS = 127  # on either side of zero


def rounded(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return a matrix as whole numbers of steps, and the step of each row."""
    step = weight.abs().amax(1, keepdim=True).clamp(min=1e-12) / STEPS
    return (weight / step).round().to(torch.int8), step


def pack(model: Path, out: Path) -> None:
    """Write a saved model with rounded matrices."""
    tensors: dict[str, Tensor] = {}
    for name, weight in CharmModel.from_pretrained(model).state_dict().items():
        if weight.dim() == 2 and weight.is_floating_point():
            tensors[name], tensors[f"{name}:step"] = rounded(weight)
        else:
            tensors[name] = weight
    out.mkdir(parents=True)
    for name in read_sealed(model / RECORD)["files"]:
        if name != "model.safetensors":
            shutil.copy(model / name, out / name)
    save_file(tensors, out / ROUNDED)


def unpack(packed: Path, out: Path) -> None:
    """Write the saved model that was packed, with its matrices as they were rounded."""
    tensors = load_file(packed / ROUNDED)
    config, schema = read_model_config(packed / "config.json")
    model = CharmModel(config.reasoner, config.memory, schema.load(packed))
    steps = {name: tensors.pop(name) for name in [*tensors] if name.endswith(":step")}
    for name, step in steps.items():
        whole = name.removesuffix(":step")
        tensors[whole] = tensors[whole] * step
    model.load_state_dict(tensors)
    model.trained_by = read_sealed(packed / TRAINING) if (packed / TRAINING).is_file() else None
    model.save(out, dtype=torch.bfloat16)
    check_saved(out, "model.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pack", "unpack"])
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    (pack if options.what == "pack" else unpack)(options.source, options.out)


if __name__ == "__main__":
    main()
