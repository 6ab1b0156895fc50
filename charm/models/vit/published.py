"""Weights of a published VARC or LoopViT, which are a torch state dict, in the layout of `Vit`.

A JSON file says which name in the state dict is which part here, since no part is guessed. `{}` stands for the number
of a layer; a map or a norm is named without ".weight" and ".bias":

    {"tokens": "...", "positions": "...", "patch": "...", "norm": "...", "head": "...",
     "qkv": "layers.{}...", "out": "...", "norm_attention": "...", "up": "...", "down": "...",
     "norm_feed_forward": "...",
     "ignored": ["names that are not needed, such as task vectors and tables of angles"]}

LoopViT has "repeats" too. The layout is taken to be VARC's: symbols are ten colours, background and border; the patch
map is a convolution; rows of `qkv` are queries, keys and values of each head in turn, of which neighbours (2i, 2i + 1)
turn together, the first half of a head by the row; outputs are the symbols of each of a patch's four cells.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from charm.errors import CharmError, charm_errors
from charm.files import read_json
from charm.models.config import NetworkConfig
from charm.models.vit.config import VitConfig
from charm.models.vit.network import PATCH, Vit
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, PAD, VOCABULARY

BACKGROUND, BORDER = 10, 11  # VARC's symbols after its ten colours
SYMBOLS = [{PAD: BACKGROUND, BOUNDARY: BORDER}.get(ours, ours - FIRST_COLOR) for ours in range(VOCABULARY)]
BLOCK = re.compile(r"^blocks\.(\d+)\.")
WRAPPERS = re.compile(r"^(module\.|_orig_mod\.)+")  # of distributed and compiled models


def read_published(path: Path, names: Path | None, config: NetworkConfig) -> dict[str, Tensor]:
    """Read a state dict, which may be one entry of a checkpoint, and return the weights of `Vit(config)`."""
    if not isinstance(config, VitConfig):
        raise CharmError(f"--published needs a preset of VARC or LoopViT, got a network of kind {config.kind}")
    with charm_errors(f"{path}: cannot be read as a file of tensors", Exception):  # damage raises anything
        found = torch.load(path, map_location="cpu", weights_only=True)
    entries = found.values() if isinstance(found, Mapping) and not _is_state(found) else [found]
    states = [one for one in entries if _is_state(one)]
    if len(states) != 1:
        raise CharmError(f"{path}: expected one state dict, found {len(states)}")
    state = {WRAPPERS.sub("", name): tensor for name, tensor in states[0].items()}
    if names is None:
        shown = {re.sub(r"\.\d+\.", ".{}.", name): list(tensor.shape) for name, tensor in state.items()}
        listed = ", ".join(f"{name} {shape}" for name, shape in shown.items())
        raise CharmError(
            f"{path}: pass --names FILE, a JSON object that names the parts {', '.join(parts_of(config))}; "
            f"the file has {listed}"
        )
    with charm_errors(f"{names}: not a JSON object of names", CharmError):
        chosen = read_json(names)
    with charm_errors(f"{path} with the names of {names} is no such network", CharmError):
        return convert(state, chosen, config)


def convert(state: Mapping[str, Tensor], names: Any, config: VitConfig) -> dict[str, Tensor]:
    """Return the weights of `Vit(config)`. Every tensor must be named, and every name must have its tensor."""
    parts = parts_of(config)
    named = dict(names) if isinstance(names, dict) else {}
    ignored = named.pop("ignored", [])
    if not isinstance(ignored, list) or not all(isinstance(name, str) for name in (*ignored, *named.values())):
        raise CharmError("every part must have a name, and ignored must be a list of names")
    if wrong := sorted(set(parts) ^ set(named)):
        raise CharmError(f"expected names of the parts {', '.join(parts)}; {', '.join(wrong)} differ")
    with torch.device("meta"):
        wanted = Vit(config).state_dict()
    weights, used = {}, set()
    for ours, place in wanted.items():
        inside = BLOCK.match(ours)
        part, _, kind = BLOCK.sub("", ours).partition(".")
        theirs = named[part].replace("{}", inside[1] if inside else "") + (f".{kind}" if kind else "")
        if theirs not in state:
            raise CharmError(f"there is no tensor {theirs} for {part}")
        used.add(theirs)
        shape = list(state[theirs].shape)
        with charm_errors(f"{theirs}: shape {shape} does not fit {part}", RuntimeError, IndexError):
            weights[ours] = _arrange(part, state[theirs].float(), config)
        if weights[ours].shape != place.shape:
            raise CharmError(f"{theirs}: expected {place.numel()} values as {part}, got shape {shape}")
    skip = [re.compile(re.escape(name).replace(r"\{\}", r"\d+")) for name in ignored]
    unknown = [name for name in state if name not in used and not any(one.fullmatch(name) for one in skip)]
    if unknown:
        raise CharmError(f"nothing is said of {', '.join(unknown)}; name what is not needed under ignored")
    return weights


def parts_of(config: VitConfig) -> list[str]:
    """Return the parts of a vit that need a name."""
    with torch.device("meta"):
        weights = Vit(config).state_dict()
    return list(dict.fromkeys(BLOCK.sub("", name).partition(".")[0] for name in weights))


def _arrange(part: str, theirs: Tensor, config: VitConfig) -> Tensor:
    if part == "tokens":
        return theirs[SYMBOLS]
    if part == "head":
        return theirs.unflatten(0, (PATCH**2, VOCABULARY))[:, SYMBOLS].flatten(0, 1)
    if part == "patch" and theirs.dim() == 4:  # [D, D, 2, 2]
        return theirs.permute(0, 2, 3, 1).flatten(1)
    if part in ("positions", "repeats"):
        return theirs.squeeze()
    if part == "qkv":
        heads = theirs.unflatten(0, (3, config.heads, config.head_width))
        turned = heads[:2].unflatten(2, (-1, 2)).transpose(2, 3).flatten(2, 3)  # ours are (i, i + H/2)
        return torch.cat([turned, heads[2:]]).flatten(0, 2)
    return theirs


def _is_state(found: Any) -> bool:
    items = found.items() if isinstance(found, Mapping) else ()
    return bool(items) and all(isinstance(name, str) and isinstance(value, Tensor) for name, value in items)
