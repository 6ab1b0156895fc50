"""Models on the Hugging Face hub, with a stand-in for its server on this machine."""

import base64
import builtins
import hashlib
import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch

import charm
from charm.models.model import CharmModel, weights_sha256
from charm.tasks.keys import MemoryConfig
from tests.toy.runs import toy_run


class StandIn(BaseHTTPRequestHandler):
    """What `huggingface_hub` asks of the hub to upload a folder and to download it again."""

    models: dict[str, dict[str, bytes]]
    seen: list[str]

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, content: Any, status: int = 200, **headers: str) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        path = self.path.partition("?")[0]
        self.seen.append(f"POST {path}")
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
            self.models.setdefault(name, {})
            self.answer({"url": f"http://{self.headers['Host']}/{name}", "id": name, "name": name})
        elif re.fullmatch(r"/api/models/(.+)/preupload/main", path):
            files = json.loads(body)["files"]
            self.answer({"files": [{"path": f["path"], "uploadMode": "regular", "shouldIgnore": False} for f in files]})
        elif found := re.fullmatch(r"/api/models/(.+)/commit/main", path):
            for line in body.splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    value = entry["value"]
                    self.models[found[1]][value["path"]] = base64.b64decode(value["content"])
            host = self.headers["Host"]
            self.answer(
                {
                    "success": True,
                    "commitUrl": f"http://{host}/{found[1]}/commit/{'a' * 40}",
                    "commitOid": "a" * 40,
                }
            )
        elif path == "/api/validate-yaml":
            self.answer({"errors": [], "warnings": []})
        else:
            self.answer({"error": f"POST {path}"}, 404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.seen.append(f"{self.command} {path}")
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/\w+)?", path):
            name = found[1]
            if name not in self.models:
                self.answer({"error": "Repository not found"}, 404, X_Error_Code="RepoNotFound")
                return
            files = [{"rfilename": file} for file in sorted(self.models[name])]
            self.answer({"_id": "1", "id": name, "sha": "a" * 40, "siblings": files, "private": False, "tags": []})
        elif found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/\w+", path):
            content = self.models[found[1]]
            self.answer(
                [
                    {"type": "file", "oid": hashlib.sha1(data).hexdigest(), "size": len(data), "path": file}
                    for file, data in sorted(content.items())
                ]
            )
        elif found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/\w+/(.+)", path):
            data = self.models.get(found[1], {}).get(found[2])
            if data is None:
                self.answer({"error": "Entry not found"}, 404, X_Error_Code="EntryNotFound")
                return
            tag = f'"{hashlib.sha256(data).hexdigest()}"'
            self.answer(data, ETag=tag, X_Repo_Commit="a" * 40, Accept_Ranges="bytes")
        else:
            self.answer({"error": f"GET {path}"}, 404)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[StandIn]]:
    pytest.importorskip("huggingface_hub")
    from huggingface_hub import constants

    handler = type("Handler", (StandIn,), {"models": {}, "seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("HF_ENDPOINT", address)
    monkeypatch.setenv("HF_TOKEN", "hf_stand_in")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield handler
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CharmModel:
    loaded = charm.load(toy_run(tmp_path_factory.mktemp("run"), MemoryConfig(rank=8)), "cpu")
    loaded.calibration = {"weights": weights_sha256(loaded.state_dict()), "mode": "auto"}
    return loaded


def assert_same(one: CharmModel, other: CharmModel) -> None:
    assert one.config == other.config
    assert one.trained_by == other.trained_by
    assert one.calibration == other.calibration
    assert one.instances == other.instances
    theirs = other.state_dict()
    assert all(torch.equal(value, theirs[name]) for name, value in one.state_dict().items())


def test_a_model_survives_a_folder(model: CharmModel, tmp_path: Path) -> None:
    model.save_pretrained(str(tmp_path / "mine"))
    files = {path.name for path in (tmp_path / "mine").iterdir()}
    assert {"README.md", "config.json", "model.safetensors", "instances.npz"} <= files
    assert_same(model, CharmModel.from_pretrained(str(tmp_path / "mine")))
    assert_same(model, charm.load(tmp_path / "mine", "cpu"))


def test_a_model_survives_the_hub(model: CharmModel, hub: type[StandIn]) -> None:
    assert model.push_to_hub("someone/tiny").endswith("someone/tiny")
    files = hub.models["someone/tiny"]
    card = files["README.md"].decode()
    assert card.startswith("---\nlicense: apache-2.0\nlibrary_name: charm-arc\n")
    assert 'charm.load("someone/tiny")' in card
    assert "https://github.com/water-vapor/charm" in card
    assert_same(model, charm.load("someone/tiny", "cpu"))
    assert_same(model, CharmModel.from_pretrained("someone/tiny", revision="main"))


def test_what_the_hub_lacks_is_told_in_one_sentence(
    model: CharmModel, hub: type[StandIn], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(charm.CharmError, match=r"^noone/nothing: no such folder, nor a model on the hub \("):
        charm.load("noone/nothing", "cpu")
    with pytest.raises(charm.CharmError, match="named owner/name, got 'tiny'"):
        model.push_to_hub("tiny")
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("huggingface_hub"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(charm.CharmError, match=r"pip install 'charm-arc\[hub\]'"):
        charm.load("noone/nothing", "cpu")


def test_a_missing_run_is_not_looked_for_on_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*rest: Any, **named: Any) -> None:
        raise AssertionError("the hub was asked")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("charm.hub.download", asked)
    (tmp_path / "models").mkdir()
    for name in ("runs/arc1", "models/mine", "./mine", "../mine"):
        with pytest.raises(charm.CharmError, match=rf"^{re.escape(str(Path(name)))} .*: no such folder$"):
            charm.load(name)
    with pytest.raises(AssertionError, match="the hub was asked"):
        charm.load("somebody/arc1")
