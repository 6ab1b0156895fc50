"""CHARM's model: a reasoner conditioned on the task memory of a structured key.

Dimension letters: B examples, T cells, D width.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from charm import hub
from charm.config import from_json, to_json
from charm.devices import has_bfloat16, require_finite
from charm.errors import CharmError, charm_errors
from charm.files import RECORD, check_files, fingerprint, read_json, read_sealed, readable_like_its_folder, write_sealed
from charm.memory import CoSE, Lookup, RowTable
from charm.memory.cose import CoSEConfig
from charm.memory.sharding import prefetch
from charm.models.config import NetworkConfig
from charm.models.network import Network
from charm.tasks.instances import Instances
from charm.tasks.keys import KeySchema, schema_named

TRAINING = "training.json"  # in a saved model: the configuration of the run it comes from
CALIBRATION = "calibration.json"  # in a saved model: how often its answers were right (`charm.evaluation.calibration`)
CARD = Path(__file__).with_name("card.md")  # the template of a model card


@dataclass(frozen=True)
class ModelConfig:
    reasoner: NetworkConfig
    memory: CoSEConfig


class CharmModel(nn.Module):
    """Reasoner and task memory, with the key schema that defines what each memory row means."""

    def __init__(self, reasoner: NetworkConfig, memory: CoSEConfig, schema: KeySchema, seed: int = 0) -> None:
        super().__init__()
        if memory.key not in schema.names:
            raise CharmError(f"memory.key must be one of {', '.join(schema.names)}; got {memory.key!r}")
        self.config = ModelConfig(reasoner, memory)
        self.reasoner: Network = reasoner.build(seed)
        with torch.random.fork_rng(devices=[]):  # the memory's initial weights depend only on the seed
            torch.manual_seed(seed)
            self.memory = schema.build(memory, reasoner.width)
        # If known, the configuration of the run that the model comes from, and how often answers of these weights were
        # right: saved with the model, and with these weights.
        self.trained_by: dict[str, Any] | None = None
        self.calibration: dict[str, Any] | None = None
        self._bind(schema)

    def _bind(self, schema: KeySchema) -> None:
        """Keep the key components of every row with the weights on their device; they are not saved."""
        self.schema = schema
        device = self.reasoner.tokens.device
        columns = schema.columns(self.config.memory)
        self._fields = tuple(columns)
        for name, column in columns.items():
            self.register_buffer(f"key_{name}", torch.from_numpy(column).to(device), persistent=False)

    @property
    def instances(self) -> Instances:
        """Which puzzle and view each memory row belongs to."""
        return self.schema.instances

    def key(self, row_B: Tensor) -> dict[str, Tensor]:
        return {"row": row_B} | {name: getattr(self, f"key_{name}")[row_B] for name in self._fields}

    def task(self, row_B: Tensor) -> Tensor:
        """Return the task embeddings [B, D] of memory rows."""
        return self.memory(self.key(row_B))

    def forward(self, state_SBLD: Tensor, tokens_BT: Tensor, row_B: Tensor, side: int) -> tuple[Tensor, Tensor, Tensor]:
        """Make one step of a network that answers whole canvases, under the memory of these rows."""
        return self.reasoner(state_SBLD, tokens_BT, self.task(row_B), side)

    def grow(self, instances: Instances) -> None:
        """Add the puzzles and rows that `instances` has beyond the model's own.

        They start at zero, or puzzles' vectors at the mean of the known ones, as the network has it. Existing values
        stay the same to the bit.
        """
        known = len(self.instances.puzzles)
        self._bind(self.schema.extend(self.memory, instances))
        base = self.memory.base if isinstance(self.memory, CoSE) else None
        if known and self.config.reasoner.starts_from_mean and isinstance(base, Lookup):
            with torch.no_grad():
                base.rows.weight[known:] = base.rows.weight[:known].mean(0)

    def reading_alone(self, rows: Callable[[], Tensor]) -> AbstractContextManager[None]:
        """Fetch some sharded instance rows together; inside the block each process can read them alone."""
        table = self.memory.residual
        if isinstance(table, RowTable) and table.rows.shard is not None:
            return prefetch(table.rows, self.key(rows())[table.field])
        return nullcontext()

    def save(self, folder: Path, whole: Mapping[str, Tensor] | None = None, dtype: torch.dtype = torch.float32) -> None:
        """Write model.safetensors, config.json, and the files of the key schema, which bind rows to task ids and views.

        `whole` has the full tensors of sharded tables (`charm.memory.sharding.whole_tables`). A smaller `dtype`
        rounds the weights; a loaded model always has float32 weights.
        """
        folder.mkdir(parents=True, exist_ok=True)
        state = {**self.state_dict(), **(whole or {})}
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
        require_finite(tensors)
        tensors = {name: t.to(dtype) if t.is_floating_point() else t for name, t in tensors.items()}
        short = str(dtype).removeprefix("torch.")
        require_finite(tensors, f"weights are too large for {short}, choose bfloat16 or float32")
        save_file(tensors, folder / "model.safetensors")
        readable_like_its_folder(folder / "model.safetensors")
        (folder / "config.json").write_text(json.dumps(to_json(self.config), indent=2) + "\n")
        self.schema.save(folder)
        names = ["model.safetensors", "config.json", *self.schema.files]
        if self.trained_by is not None:
            (folder / TRAINING).write_text(json.dumps(self.trained_by, indent=2) + "\n")
            names.append(TRAINING)
        if self.calibration is not None and self.calibration.get("weights") == weights_sha256(tensors):
            write_sealed(folder / CALIBRATION, self.calibration)
        write_sealed(folder / RECORD, {"files": {name: fingerprint(folder / name) for name in names}})

    def save_pretrained(self, folder: str | Path, name: str = "") -> None:
        """Save the model with a model card, as the Hugging Face hub expects it; `from_pretrained` loads it again."""
        with charm_errors(f"{folder}: cannot be written", OSError, SafetensorError):
            self.save(Path(folder))
            (Path(folder) / "README.md").write_text(self.card(name or Path(folder).name), "utf-8")

    def push_to_hub(self, name: str, private: bool = False, message: str = "Upload the model") -> str:
        """Upload the model with a model card to "owner/name" on the Hugging Face hub; returns its address."""
        with tempfile.TemporaryDirectory() as folder:
            self.save_pretrained(folder, name)
            return hub.upload(Path(folder), name, private, message)

    def card(self, name: str) -> str:
        """Return the text of a model card: what the model is, and how to load it."""
        memory = sum(parameter.numel() for parameter in self.memory.parameters())
        total = sum(parameter.numel() for parameter in self.parameters())
        return CARD.read_text("utf-8").format(
            name=name,
            network=self.config.reasoner.described.format(kind=self.config.reasoner.kind.upper()),
            width=self.config.reasoner.width,
            total=f"{total:,}",
            memory=f"{memory:,}",
            tasks=f"{len(self.instances.puzzles):,}",
        )

    @staticmethod
    def from_pretrained(
        folder: str | Path, device: torch.device | str = "cpu", revision: str | None = None
    ) -> CharmModel:
        """Load a saved model, to answer with or to adapt. On a CPU it always computes in float32.

        `folder` may also be "owner/name" on the Hugging Face hub, at the given `revision`. The files must match the
        hashes in checkpoint.json. A folder without that file, from an earlier version, loads unchecked.
        """
        folder = hub.download(str(folder), revision) if hub.is_hub_name(folder) else Path(folder)
        check_saved(folder, "config.json", "model.safetensors")
        if not (folder / "config.json").is_file():
            raise CharmError(f"{folder}: not a saved model (it has no config.json)")
        with charm_errors(f"{folder}: not a saved model", OSError, ValueError, RecursionError):
            config, schema = read_model_config(folder / "config.json")
            check_saved(folder, *schema.files)
            with charm_errors(f"{folder / 'model.safetensors'}: damaged", SafetensorError):
                tensors = load_file(folder / "model.safetensors")
        keys = schema.load(folder)
        with torch.device("meta"):  # allocates nothing: sizes are checked before anything is built from them
            parts = {"reasoner": config.reasoner.build(), "memory": keys.build(config.memory, config.reasoner.width)}
        wanted = {f"{part}.{n}": t for part, one in parts.items() for n, t in one.state_dict().items()}
        for name in sorted(wanted.keys() | tensors.keys()):
            expected, found = (list(one[name].shape) if name in one else None for one in (wanted, tensors))
            if expected != found:
                problem = f"{name}: expected shape {expected}, got {found}"
                raise CharmError(f"{folder}: the weights do not fit the configuration ({problem})")
        require_finite(tensors, folder)
        model = CharmModel(config.reasoner, config.memory, keys)
        model.load_state_dict(tensors)
        # Products of matrices took five times as long in bfloat16 on a CPU without units for it.
        if not has_bfloat16(at := torch.device(device)):
            model.reasoner.compute_dtype = torch.float32
            model.reasoner.on_old_gpu = at.type == "cuda"
        if (folder / TRAINING).is_file():
            check_saved(folder, TRAINING)
            model.trained_by = read_sealed(folder / TRAINING)
        if (folder / CALIBRATION).is_file():
            model.calibration = read_sealed(folder / CALIBRATION)
        return model.to(device)


def weights_sha256(tensors: Mapping[str, Tensor]) -> str:
    """Hash the names, shapes and values of weights; the type they are stored as makes no difference."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        values = tensor.detach().cpu()
        values = values.float() if values.is_floating_point() else values
        digest.update(f"{name} {list(values.shape)}\n".encode() + values.numpy().tobytes())
    return digest.hexdigest()


def check_saved(folder: Path, *names: str) -> None:
    """Compare files of a saved model with the hashes recorded when they were written, if there is a record."""
    if not (folder / RECORD).is_file():
        return
    record = read_sealed(folder / RECORD)
    listed = record.get("files")
    if not isinstance(listed, dict):
        raise CharmError(f"{folder / RECORD}: not the record of a saved model (it lists no files)")
    check_files(folder, listed, names)


def read_model_config(path: Path) -> tuple[ModelConfig, type[KeySchema]]:
    """Return the configuration of a saved model, and the schema that its memory's key names."""
    data = read_json(path)
    if not isinstance(data, dict) or not isinstance(memory := data.pop("memory", {}), dict):
        raise CharmError(f"{path}: expected an object with the fields of {ModelConfig.__name__}")
    with charm_errors(f"{path}: no known memory", CharmError):
        schema = schema_named(memory.get("key", "puzzle"))  # the only key of the first releases
    found = from_json(ModelConfig, {"reasoner": {}, **data, "memory": {}}, str(path))
    return replace(found, memory=from_json(schema.config_type, memory, f"{path}.memory")), schema
