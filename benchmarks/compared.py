"""Draw the comparison with others of docs/compared.md: pass@2 against the dollars that a result costs.

python benchmarks/compared.py docs/compared.png

Every row with a price is drawn, except those on a part of the tasks. Two seeds or a range of scores are a bar. The
picture holds what was drawn as its description, so that a test can see whether the table has changed since.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from charm.drawing.figures import COLORS, GREY

PAGE = Path(__file__).parent.parent / "docs" / "compared.md"
COLUMNS = ("system", "pass@2", "dollars")
PAPER = "CHARM in the paper"
PART = " of the 400 tasks"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# Where a label is not to the right of its point: its offset, and which end of it is there.
BESIDE = (9, 0, "left")
OFFSETS = {
    "CHARM writer": (-9, 0, "right"),
    "TRM": (9, 4, "left"),
    "HRM": (-9, -2, "right"),
    "VARC, one ViT": (-9, 0, "right"),
    "LoopViT large": (-9, 0, "right"),
    "CHARM in the paper": (-28, 0, "right"),
}


class Result(NamedTuple):
    name: str
    scores: tuple[float, ...]
    dollars: tuple[float, ...]


def results(text: str) -> Iterator[Result]:
    """Return the rows of the table that begins with COLUMNS, as far as they have a score on all tasks and a price."""
    lines = iter(text.splitlines())
    header = next(cells for line in lines if COLUMNS[0] in (cells := _cells(line)))
    places = [header.index(name) for name in COLUMNS]
    next(lines)  # the dashes under it
    for line in lines:
        if not line.startswith("|"):
            return
        system, score, dollars = (_cells(line)[place] for place in places)
        prices, scores = _numbers(dollars), _numbers(score)
        if prices and scores and PART not in system:
            name = re.split(r" \(| with | after ", system)[0]
            yield Result(name, scores, prices)


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("*", "").replace("`", "") for cell in line.strip("|").split("|")]


def _numbers(cell: str) -> tuple[float, ...]:
    return tuple(float(number.replace(",", "")) for number in NUMBER.findall(cell))


def draw(found: list[Result], file: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"font.size": 11}):
        figure = Figure(figsize=(8, 3.4), layout="constrained")
        axes = figure.add_subplot()
        for name, scores, dollars in found:
            ours = name.startswith("CHARM") and name != PAPER
            color = COLORS[0] if ours else COLORS[1]
            middle, price = sum(scores) / len(scores), math.prod(dollars) ** (1 / len(dollars))
            axes.plot([price] * len(scores), scores, color=color, linewidth=2)
            axes.plot(dollars, [middle] * len(dollars), color=color, linewidth=2)
            axes.plot(price, middle, "o" if ours else "s", color=color, markersize=8)
            *offset, end = OFFSETS.get(name, BESIDE)
            axes.annotate(
                f"{name}  {middle:.0f}",
                (price, middle),
                offset,
                textcoords="offset points",
                ha=end,
                va="center",
                color=color,
                weight="bold" if ours else "normal",
            )
        axes.set(xscale="log", xlim=(0.009, 20_000), ylim=(0, 90))
        axes.set(xlabel="dollars for training and, if known, answers", ylabel="two attempts (%)")
        axes.set_xticks([0.1, 1, 10, 100, 1000, 10_000], ["0.1", "1", "10", "100", "1,000", "10,000"])
        axes.grid(color=GREY, alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(file, dpi=140, metadata={"Description": str(found)})


def main() -> None:
    if len(sys.argv) != 2 or Path(sys.argv[1]).suffix != ".png":
        raise SystemExit("python benchmarks/compared.py FILE.png")
    draw([*results(PAGE.read_text())], Path(sys.argv[1]))


if __name__ == "__main__":
    main()
