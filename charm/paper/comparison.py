"""Compare a table of the paper with our results: means and spreads over seeds, paired differences, verdicts."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any, Literal

from charm.paper.tables import MINUS, PaperClaim, PaperLine, PaperTable
from charm.paper.work import Result, Shelf
from charm.tables import Table, spread_text

MOST_SEEDS = 100  # results of seeds below this number are read
Verdict = Literal["same order", "opposite", "higher", "lower", "undecided"]


@dataclass(frozen=True)
class Difference:
    """The paired difference of two variants over their common seeds."""

    seeds: int
    mean: float
    half_width: float  # half the width of the 95 % interval; infinite with fewer than two seeds

    @property
    def interval(self) -> tuple[float, float]:
        return self.mean - self.half_width, self.mean + self.half_width

    def text(self, digits: int) -> str:
        """Return the mean with half of its interval, as "+2.67 ± 1.43"."""
        spread = f" ± {self.half_width:.{digits}f}" if math.isfinite(self.half_width) else ""
        return f"{self.mean:+.{digits}f}{spread}"


def paired_difference(first: Mapping[int, float], second: Mapping[int, float]) -> Difference | None:
    """Return first minus second, seed by seed; None without a common seed."""
    differences = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    count = len(differences)
    if not count:
        return None
    half = t_quantile(count - 1) * stdev(differences) / math.sqrt(count) if count > 1 else math.inf
    return Difference(count, mean(differences), half)


def verdict(claimed: float | None, found: Difference | None) -> Verdict:
    """Say whether the interval of the difference is on the same side of zero as the paper's difference, if it has one.

    Seeds that all differ by the same amount show no spread to judge by: too few tasks were asked.
    """
    if found is None or not found.half_width or abs(found.mean) <= found.half_width or claimed == 0:
        return "undecided"
    if claimed is None:
        return "higher" if found.mean > 0 else "lower"
    return "same order" if (found.mean > 0) == (claimed > 0) else "opposite"


def t_quantile(freedom: int, confidence: float = 0.95) -> float:
    """Return the t for which |T| <= t has the probability `confidence`, for Student's t distribution."""
    billionths = range(10**12)
    return bisect_left(billionths, confidence, key=lambda n: _inside(n / 1e9, freedom)) / 1e9


def _inside(t: float, freedom: int) -> float:
    """Return the probability that |T| <= t, by the finite sums for integer degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term = total = cosine if freedom % 2 else 1.0
    for k in range(2 + freedom % 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if freedom == 1:
        total = 0.0
    return 2 / math.pi * (angle + sine * total) if freedom % 2 else sine * total


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of a table on a shelf."""

    table: PaperTable
    results: dict[str, dict[int, Result]]  # results by the key of a line and by seed

    @staticmethod
    def of(table: PaperTable, shelf: Shelf) -> Comparison:
        """Read all finished seeds of its lines."""
        found = {
            line.key: {seed: one for seed in range(MOST_SEEDS) if (one := shelf.run(line.variant, seed).read())}
            for line in table.runs
        }
        return Comparison(table, found)

    def scores(self, line: PaperLine, measure: str) -> dict[int, float]:
        """Return a score by seed; seeds without this score are left out."""
        name = f"{line.prefix}{measure}"
        found = self.results.get(line.key, {})
        return {seed: one["scores"][name] for seed, one in found.items() if name in one["scores"]}

    def verdicts(self) -> Iterator[tuple[PaperClaim, float | None, Difference | None, Verdict]]:
        """Yield the claims about the requested lines: the paper's difference if it has one, ours, and the verdict."""
        for claim in self.table.claims:
            if claim.lines <= self.results.keys():
                scores = {key: self.scores(self.table.line(key), claim.measure) for key in claim.lines}
                found = paired_difference(claim_side(claim.first, scores), claim_side(claim.second, scores))
                claimed = self.table.paper_difference(claim)
                yield claim, claimed, found, verdict(claimed, found)

    def scores_table(self) -> Table:
        """Return a table with each line of the paper, and our numbers below it."""
        measures = self.table.measures
        rows = []
        for line in self.table.lines:
            rows.append([line.title, *(line.paper.get(measure, "") for measure in measures)])
            if line.run:
                seeds = ", ".join(map(str, sorted(self.results[line.key])))
                scores = {measure: list(self.scores(line, measure).values()) for measure in measures}
                ours = (spread_text(one, f".{_decimals(measure)}f") for measure, one in scores.items())
                rows.append([f"  ours: {f'seeds {seeds}' if seeds else 'no run'}", *ours])
        return Table(["", *measures], rows, self.table.label, self.table.about, narrow=True)

    def claims_table(self) -> Table:
        rows = []
        for claim, claimed, found, judged in self.verdicts():
            digits = _decimals(claim.measure)
            ours = "-" if found is None else f"{found.text(digits)} (n={found.seeds})"
            text = f"{claim_text(claim.first, claim.second)}, {claim.measure}"
            rows.append([text, "-" if claimed is None else f"{claimed:+.{digits}f}", ours, judged])
        caption = "Paired differences of equal seeds with their 95 % interval."
        return Table(["difference", "paper", "ours", "verdict"], rows, "Claims", caption, narrow=True)

    def alone(self) -> list[str] | None:
        """Return the tasks that only `table.alone` has among its candidates of all seeds; None without others."""
        mine = self.results.get(self.table.alone)
        if not mine or len(self.results) < 2:
            return None

        def proposed(seeds: dict[int, Result]) -> set[str]:
            return {task for one in seeds.values() for task in one.get("tasks", {}).get("proposed", ())}

        return sorted(proposed(mine).difference(*(proposed(one) for one in self.results.values() if one is not mine)))

    def alone_text(self) -> str:
        """Say what `alone` found, and the paper's number."""
        tasks = self.alone()
        if tasks is None:
            return ""
        who, others = self.table.line(self.table.alone).title, sum(map(bool, self.results.values())) - 1
        start = f"{len(tasks)} tasks are answered by {who} and by none of the {others} other variants, at any rank"
        return f"{start} (the paper: {self.table.alone_count}): {' '.join(tasks)}".removesuffix(": ")

    def to_json(self) -> dict[str, Any]:
        lines, claims = [], []
        for line in self.table.runs:
            ours = {measure: self.scores(line, measure) for measure in line.paper or self.table.measures}
            lines.append({"line": line.key, "title": line.title, "paper": dict(line.paper), "ours": ours})
        for claim, claimed, found, judged in self.verdicts():
            one: dict[str, Any] = {"first": claim.first, "second": claim.second, "measure": claim.measure}
            one |= {"paper": None if claimed is None else round(claimed, 6), "verdict": judged}
            if found is not None:
                half = found.half_width if math.isfinite(found.half_width) else None
                one |= {"seeds": found.seeds, "mean": found.mean, "half_width": half}
            claims.append(one)
        alone = {} if self.alone() is None else {"alone": self.alone()}
        return {"label": self.table.label, "lines": lines, "claims": claims, **alone}


def _decimals(measure: str) -> int:
    return 5 if measure == "bits per byte" else 4 if measure.endswith("loss") else 2


def claim_side(side: str, scores: Mapping[str, dict[int, float]]) -> dict[int, float]:
    """Return one side of a claim by seed: the score of a line, or a difference of two. `scores` are those of lines."""
    first, *second = (scores[key] for key in side.split(MINUS))
    return {seed: first[seed] - second[0][seed] for seed in first if seed in second[0]} if second else first


def claim_text(first: str, second: str) -> str:
    """Describe the difference of the two sides of a claim, with lines by the names of their variants."""
    sides = [MINUS.join(key.partition(".")[2] or key for key in side.split(MINUS)) for side in (first, second)]
    return MINUS.join(f"({side})" if MINUS in side else side for side in sides)
