"""Fixtures that write plugins and other project files."""

from collections.abc import Callable
from pathlib import Path

import pytest

MANIFEST = """\
apiVersion: v1
kind: Plugin
metadata:
  author: acme
  name: {name}
  version: 1.2.0
spec:
  components:
    AgentRunner:
      fromDirs:
        - path: components/
"""
COMPONENT = """\
apiVersion: langbot/v1
kind: {kind}
metadata:
  name: {name}
  label:
    en_US: Demo
spec:
  capabilities:
    streaming: true
  permissions:
    history: [page]
  config:
    - name: depth
      type: integer
      label: {{en_US: Depth}}
      default: 3
execution:
  python:
    path: ./{name}.py
    attr: Demo
"""
CODE = """\
from engine.protocol import AgentRunner


class Demo(AgentRunner):
    async def run(self, ctx):
        yield {"type": "run.completed", "data": {}}
"""


class Plugins:
    """Writes plugins with LangBot's folder layout."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def plugin(self, name: str = "demo") -> Path:
        folder = self.root / name
        (folder / "components").mkdir(parents=True)
        (folder / "manifest.yaml").write_text(MANIFEST.format(name=name))
        return folder

    def component(self, folder: Path, name: str = "main", *, kind: str = "AgentRunner") -> Path:
        path = folder / "components" / f"{name}.yaml"
        path.write_text(COMPONENT.format(name=name, kind=kind))
        path.with_suffix(".py").write_text(CODE)
        return path


@pytest.fixture
def plugins(tmp_path: Path) -> Plugins:
    return Plugins(tmp_path)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def write_file(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write_file
