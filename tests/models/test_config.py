import subprocess
import sys

import pytest
import torch

from charm.config import from_json, to_json
from charm.errors import CharmError
from charm.models.canvas.backbone import Reasoner, count_parameters
from charm.models.canvas.config import CAR, HRM, TRM, CanvasConfig
from charm.models.config import NetworkConfig
from charm.models.vit.config import VitConfig
from charm.models.writer.config import WriterConfig


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "gru"}, "kind must be one of urm, trm, hrm"),
        ({"ffn": "mlp"}, "ffn must be one of .* got 'mlp'"),
        ({"rope": "3d"}, "rope must be one of .* got '3d'"),
        ({"kernels": "magic"}, "kernels must be one of .* got 'magic'"),
        ({"compute_dtype": "float16"}, "compute_dtype must be one of .* got 'float16'"),
        ({"horizon": 13}, "horizon must be <= its 12 recurrences, got 13"),
        ({"horizon": 0}, "horizon must be an integer >= 1"),
        ({"horizon_layers": 3}, r"horizon_layers must be 0 or from 4 \(one block\) to 48 .* got 3"),
        ({"horizon_layers": 49}, "got 49"),
        ({"horizon_layers": 6.5}, "got 6.5"),
        ({"kind": "trm", "horizon_layers": 8}, "horizon_layers is for kind urm"),
        ({"layers": 2.0}, "layers must be an integer >= 1"),
        ({"prefix": 0}, "prefix must be an integer >= 1"),
        ({"inner": 4}, "no inner cycles"),
        ({"kind": "hrm", "horizon": 2}, "horizon must be 1; got 2"),
        ({"heads": 7}, "width must be divisible by its 7 heads, got 512"),
        ({"width": 24, "heads": 8}, "head width 3"),
        ({"width": 12, "heads": 2, "rope": "2d"}, "head width 6 .* not divisible by 4"),
        ({"halt_outputs": 3}, "halt_outputs must be 1 or 2"),
        ({"vocab": 1}, "vocab"),
        ({"expansion": 0.0}, "expansion"),
        ({"expansion": float("nan")}, "expansion"),
        ({"rope_base": 1.0}, "rope_base"),
        ({"exploration": 1.5}, "exploration"),
    ],
)
def test_impossible_shapes_are_refused(change: dict, complaint: str) -> None:
    with pytest.raises(CharmError, match=complaint):
        CanvasConfig(**change)


def test_inner_width_follows_the_family() -> None:
    assert CanvasConfig(width=512).inner_width == 1536
    assert CanvasConfig(width=256).inner_width == 768
    assert CanvasConfig(width=384, heads=6).inner_width == 1024  # 2/3 * 4 * 384 exactly: nothing to round
    assert CanvasConfig(width=64, expansion=0.001).inner_width == 256


def counts(config: CanvasConfig) -> tuple[int, int]:
    with torch.device("meta"):
        reasoner = Reasoner(config)
    return count_parameters(reasoner, initial_state=False), count_parameters(reasoner)


@pytest.mark.parametrize(
    ("config", "trained", "with_initial_state"),
    [
        (CanvasConfig(prefix=1, halt_outputs=2), 13_663_234, 13_663_746),  # URM
        (CanvasConfig(), 13_662_721, 13_663_233),
        (TRM, 6_829_058, 6_830_082),
        (HRM, 27_276_290, 27_277_314),
        (CAR, 1_710_337, 1_710_593),
    ],
)
def test_parameter_counts_of_the_family(config: CanvasConfig, trained: int, with_initial_state: int) -> None:
    assert counts(config) == (trained, with_initial_state)


@pytest.mark.parametrize(
    ("layers", "millions"), [(2, 6.8), (3, 10.2), (4, 13.6), (6, 20.5), (8, 27.3), (12, 40.9), (24, 81.8)]
)
def test_parameter_counts_of_the_scaling_table(layers: int, millions: float) -> None:
    assert round(counts(CanvasConfig(layers=layers, ffn="swiglu"))[1] / 1e6, 1) == millions


def test_config_does_not_load_torch() -> None:
    code = "import sys, charm.models.networks; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_configuration_states_what_its_network_uses_and_old_files_load() -> None:
    writer = WriterConfig(width=64, heads=4, reads="whole")
    stated = to_json(writer)
    assert not {"ffn", "rope", "vocab", "prefix", "horizon"} & set(stated)
    assert from_json(NetworkConfig, stated) == writer
    before = {**stated, "ffn": "conv_swiglu", "rope": "1d", "vocab": 12, "prefix": 16, "halt_outputs": 1}
    assert from_json(NetworkConfig, before) == writer
    with pytest.raises(CharmError, match="WriterConfig has no field 'redas'"):
        from_json(NetworkConfig, {**stated, "redas": 1})
    with pytest.raises(CharmError, match="kind must be one of urm, trm, hrm, writer, vit; got 'gru'"):
        from_json(NetworkConfig, {"kind": "gru"})
    assert isinstance(from_json(NetworkConfig, {"kind": "trm"}), CanvasConfig)
    assert isinstance(from_json(NetworkConfig, to_json(VitConfig())), VitConfig)
