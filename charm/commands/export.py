"""`charm export`: the weights of a run as a small folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from charm.commands.shared import Run, flag


def export(
    run: Run,
    *,
    out: Annotated[Path, flag("DIR")],
    dtype: Annotated[Literal["bfloat16", "float16", "float32"], flag("TYPE")] = "bfloat16",
) -> None:
    """Write the newest weights of a run to a small folder: a model for `charm solve`, `charm view` and `charm.load`.

    Example: charm export runs/base --out base

    Args:
        run: a run folder, a saved model, or the name of a model that comes with CHARM.
        out: a new folder.
        dtype: type of the stored weights; bfloat16 has half of the size.
    """
    import torch

    from charm.paths import model_at
    from charm.progress import say
    from charm.runs.export import export_model

    size = export_model(model_at(run), out, getattr(torch, dtype))
    say(f"{out}: {size / 1e6:.1f} MB; use it with `charm solve --checkpoint {out}`")
