"""The networks by kind: a plain dictionary to their configurations, each of which builds its network."""

from charm.models.canvas.config import CanvasConfig
from charm.models.config import NetworkConfig
from charm.models.vit.config import VitConfig
from charm.models.writer.config import WriterConfig

NETWORKS: dict[str, type[NetworkConfig]] = {
    **dict.fromkeys(("urm", "trm", "hrm"), CanvasConfig),
    "writer": WriterConfig,
    "vit": VitConfig,
}
