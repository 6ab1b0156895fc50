"""Compare a table of the paper with our results: means and spreads over seeds, paired differences, verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from charm.paper.shelf import Result, Shelf
from charm.paper.tables import MINUS, PaperClaim, PaperLine, PaperTable
from charm.paper.variants import Variant
from charm.paper.verdicts import Difference, Verdict, paired, verdict
from charm.tables import Table, spread_text

MOST_SEEDS = 100  # results of seeds below this number are read


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of a table on a shelf."""

    table: PaperTable
    results: dict[str, dict[int, Result]]
    """Results by the key of a line and by seed."""

    @staticmethod
    def of(table: PaperTable, shelf: Shelf, lines: Sequence[PaperLine]) -> Comparison:
        return Comparison(table, {line.key: results_of(line.variant, shelf) for line in lines})

    def scores(self, line: PaperLine, measure: str) -> dict[int, float]:
        """The score by seed; seeds without this score are left out."""
        name = f"{line.prefix}{measure}"
        found = self.results.get(line.key, {})
        return {seed: one["scores"][name] for seed, one in found.items() if name in one["scores"]}

    def judge(self, claim: PaperClaim) -> tuple[float | None, Difference | None, Verdict]:
        """The paper's difference if it has one, ours, and the verdict."""

        def scores(key: str) -> dict[int, float]:
            return self.scores(self.table.line(key), claim.measure)

        claimed = self.table.claimed(claim)
        found = paired(claim_side(claim.first, scores), claim_side(claim.second, scores))
        return claimed, found, verdict(claimed, found)

    def claims(self) -> list[PaperClaim]:
        """The claims about the requested lines."""
        return [claim for claim in self.table.claims if claim.lines <= self.results.keys()]

    def scores_table(self) -> Table:
        """A table with each line of the paper, and our numbers below it."""
        measures = self.table.measures
        rows = []
        for line in self.table.lines:
            if line.run and line.key not in self.results:
                continue
            rows.append([line.title, *(line.paper.get(measure, "") for measure in measures)])
            if not line.run:
                continue
            seeds = sorted(self.results[line.key])
            ours_text = f"seeds {', '.join(map(str, seeds))}" if seeds else "no run"
            scores = {measure: list(self.scores(line, measure).values()) for measure in measures}
            ours = (spread_text(one, f".{_decimals(measure)}f") for measure, one in scores.items())
            rows.append([f"  ours: {ours_text}", *ours])
        return Table(["", *measures], rows, self.table.label, self.table.about, narrow=True)

    def claims_table(self) -> Table:
        rows = []
        for claim in self.claims():
            claimed, found, judged = self.judge(claim)
            digits = _decimals(claim.measure)
            ours = "-"
            if found is not None:
                ours = f"{found.mean:+.{digits}f}"
                if math.isfinite(found.half_width):
                    ours += f" ± {found.half_width:.{digits}f}"
                ours += f" (n={found.seeds})"
            text = f"{claim_text(claim.first, claim.second)}, {claim.measure}"
            rows.append([text, "-" if claimed is None else f"{claimed:+.{digits}f}", ours, judged])
        caption = "Paired differences of equal seeds with their 95 % interval."
        return Table(["difference", "paper", "ours", "verdict"], rows, "Claims", caption, narrow=True)

    def alone(self) -> list[str] | None:
        """Tasks whose answers only the line `table.alone` has among its candidates; None without results to compare.

        The candidates of all seeds of a line count.
        """
        table = self.table
        if not self.results.get(table.alone) or len(self.results) < 2:
            return None
        found = {
            key: {task for one in some.values() for task in one.get("tasks", {}).get("proposed", ())}
            for key, some in self.results.items()
        }
        others = set().union(*(tasks for key, tasks in found.items() if key != table.alone))
        return sorted(found[table.alone] - others)

    def alone_text(self) -> str:
        """A sentence with the result of `alone` and the paper's number."""
        tasks = self.alone()
        if tasks is None:
            return ""
        title = self.table.line(self.table.alone).title
        others = sum(bool(some) for some in self.results.values()) - 1
        return (
            f"{len(tasks)} tasks are answered by {title} and by none of the {others} other variants, at any rank "
            f"(the paper: {self.table.alone_count}): {' '.join(tasks)}".removesuffix(": ")
        )

    def to_json(self) -> dict[str, Any]:
        lines = [
            {
                "line": line.key,
                "title": line.title,
                "paper": dict(line.paper),
                "ours": {
                    measure: self.scores(line, measure) for measure in line.paper or self.table.measures
                },
            }
            for line in self.table.lines
            if line.key in self.results
        ]
        claims = []
        for claim in self.claims():
            claimed, found, judged = self.judge(claim)
            one: dict[str, Any] = {"first": claim.first, "second": claim.second, "measure": claim.measure}
            one |= {"paper": None if claimed is None else round(claimed, 6), "verdict": judged}
            if found is not None:
                finite = math.isfinite(found.half_width)
                one |= {
                    "seeds": found.seeds,
                    "mean": found.mean,
                    "half_width": found.half_width if finite else None,
                }
            claims.append(one)
        alone = {} if self.alone() is None else {"alone": self.alone()}
        return {"label": self.table.label, "lines": lines, "claims": claims, **alone}


def results_of(variant: Variant, shelf: Shelf) -> dict[int, Result]:
    """All finished seeds of a variant."""
    found = ((seed, shelf.read(variant, seed)) for seed in range(MOST_SEEDS))
    return {seed: result for seed, result in found if result is not None}


def _decimals(measure: str) -> int:
    return 5 if measure == "bits per byte" else 4 if measure.endswith("loss") else 2


def claim_side(side: str, scores: Callable[[str], dict[int, float]]) -> dict[int, float]:
    """One side of a claim by seed: the score of a line, or a difference of two; `scores` finds those of a line."""
    first, *second = map(scores, side.split(MINUS))
    return {seed: first[seed] - second[0][seed] for seed in first if seed in second[0]} if second else first


def claim_text(first: str, second: str) -> str:
    """The difference of the two sides of a claim, with lines by the names of their variants."""
    sides = [
        MINUS.join(key.partition(".")[2] or key for key in side.split(MINUS)) for side in (first, second)
    ]
    return MINUS.join(f"({side})" if MINUS in side else side for side in sides)
