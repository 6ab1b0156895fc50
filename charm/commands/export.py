"""`charm export`: the weights of a run as a small folder."""

from pathlib import Path
from typing import Annotated, Literal

from charm.commands.shared import Run, flag


def export(
    run: Run,
    *,
    out: Annotated[Path, flag("DIR")],
    dtype: Annotated[Literal["bfloat16", "float16", "float32"], flag("TYPE")] = "bfloat16",
    published: Annotated[str | None, flag("PRESET")] = None,
    names: Annotated[Path | None, flag("FILE")] = None,
) -> None:
    """Write the newest weights of a run to a small folder: a model for `charm solve`, `charm view` and `charm.load`.

    Example: charm export runs/base --out base

    Args:
        run: a run folder, a saved model, or the name of a model that comes with CHARM.
        out: a new folder.
        dtype: type of the stored weights; bfloat16 has half of the size.
        published: RUN is a published checkpoint of VARC or LoopViT of this preset's size, such as varc-arc1.
        names: with --published, a JSON file that says which tensor is which part; see docs/baselines.md.
    """
    import torch

    from charm.arc.presets import preset
    from charm.errors import CharmError
    from charm.paths import model_at
    from charm.progress import say
    from charm.runs.export import export_model, published_model, write_model

    if published is None and names is not None:
        raise CharmError("--names says what a published checkpoint has; it needs --published PRESET")
    if published is None:
        size = export_model(model_at(run), out, getattr(torch, dtype))
    else:
        size = write_model(published_model(run, preset(published), names), out, getattr(torch, dtype))
    say(f"{out}: {size / 1e6:.1f} MB; use it with `charm solve --checkpoint {out}`")
