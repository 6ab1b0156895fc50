"""The picture of the comparison with others shows its table."""

from pathlib import Path

import pytest
from PIL import Image

from benchmarks import compared
from tests.docs.pages import ROOT

TABLE = """
| system | pass@2 | parameters | dollars |
|---|---|---|---|
| **CHARM `writer`** (this code, seeds 0 and 1) | **43.6, 40.9** | 27M | 0.25 |
| the same on some (48 of the 400 tasks) | 56.2 | 7M | 0.19 |
| URM | 61.8 | 14M | not known |
| VARC, one ViT | 52 to 56 | 18M | about 1,250 |

| system | pass@2 | dollars |
"""


def test_rows_on_all_tasks_with_a_price_are_read() -> None:
    writer = compared.Result("CHARM writer", (43.6, 40.9), (0.25,))
    assert [*compared.results(TABLE)] == [writer, compared.Result("VARC, one ViT", (52.0, 56.0), (1250.0,))]


def test_the_picture_is_of_the_table_as_it_is(tmp_path: Path) -> None:
    found = [*compared.results(compared.PAGE.read_text())]
    assert len(found) >= 10
    again = tmp_path / "compared.png"
    compared.draw(found, again)
    for picture in (ROOT / "docs" / "compared.png", again):
        with Image.open(picture) as image:
            assert image.info["Description"] == str(found), "draw it again: benchmarks/compared.py"


def test_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["compared.py", "out.jpg"])
    with pytest.raises(SystemExit, match=r"FILE\.png"):
        compared.main()
