"""The paper's tables and figures, one row each for the reproduction page: how to make them, and our records.

Tables that report runs are data in `charm.paper.printed`. Other rows name the command that checks them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ours:
    """A sentence about a record; `{name:.1f}` stands for the record's number with that name and its spread."""

    record: str
    text: str
    claims: tuple[str, ...] = ()
    """The paper's order of two of the record's numbers, such as "CoSE seen > table seen"."""


@dataclass(frozen=True)
class Row:
    label: str
    """Label of the table or figure in the paper's source."""
    ours: tuple[Ours, ...] = ()
    instead: str = "no run"
    """Text of the cell if there is no record."""
    check: str = ""
    """Result of a check that is not a record."""
    paper: str = ""
    """The paper's number, if it is not in `charm.paper.printed`."""
    command: str = ""
    """Command that makes or checks it; `charm reproduce` if empty."""
    cost: str = ""
    """Cost in words, if there is nothing to train."""


def _measured(label: str, record: str, text: str, claims: tuple[str, ...] = (), **fields: str) -> Row:
    """A row with one record of ours."""
    return Row(label, (Ours(record, text, claims),), **fields)


def _counted(label: str, paper: str) -> Row:
    """A table of parameter counts."""
    text = "{agree:.0f} of {counts:.0f} counts agree in every printed digit"
    return _measured(label, "parameters", text, command="charm params --paper", cost="seconds", paper=paper)


DIAGRAMS = ("fig:architecture-comparison", "fig:cose-detail")
HALTING = (
    *("train-frozen", "train-reset", "train-joint", "eval-frozen", "eval-reset", "eval-joint"),
    *("comp", "full"),
)
CAR_SEEN = "seen: table {table seen:.1f}, composition {composition seen:.1f}, CoSE {CoSE seen:.1f}"
CAR_UNSEEN = "unseen: table {table unseen:.1f}, composition {composition unseen:.1f}, CoSE {CoSE unseen:.1f}"
ORACLES = "oracle: {CoSE oracle:.1f}, {table oracle:.1f}"
MEMORY_ONLY = "memory-only: CoSE {CoSE memory-only:.1f}, table {table memory-only:.1f}"
OVERALL_OURS = (
    Ours("speedrun_public", "ARC-AGI-1 {pass@2:.1f}, a model of 5.4M parameters after 18 minutes"),
    Ours("writer", "{public pass@2:.1f}, a writer of 27M parameters after 5 minutes"),
)
SEEN_CLAIMS = ("CoSE seen > table seen", "composition seen > table seen")
UNSEEN_CLAIMS = ("composition unseen > CoSE unseen", "CoSE unseen > table unseen")
TEXT_CLAIMS = ("CoSE x5 < Engram x5", "CoSE x20 < Engram x20")
ENGRAM_CLAIMS = ("Engram x5 < stock", "Engram x20 < stock")
STREAM_CLAIMS = ("CoSE memory-only > table memory-only",)
LONG_STREAM = Ours("continual_study", f"110 tasks: {MEMORY_ONLY}", STREAM_CLAIMS)
METHOD_CLAIMS = (
    *(f"CoSE memory-only > {method} composition" for method in ("rehearsal", "ewc", "naive")),
    "CoSE memory-only > naive full",
    "l2sp composition > CoSE memory-only",
    "memory-only base after > naive composition base after",
)
SECTIONS: dict[str, tuple[Row, ...]] = {
    "Systems and task memory on ARC": (
        Row("tab:overall-arc-performance", OVERALL_OURS),
        Row("fig:overall-arc-performance", OVERALL_OURS, paper="the same numbers as bars"),
        Row("tab:component-grid"),
        Row("tab:arc-repeat-ablation"),
        Row("tab:full-cose-ablation"),
        Row("tab:full-cose-ablation-no-rearc"),
        Row("fig:embedding-pareto", paper="the numbers of tab:full-cose-ablation"),
        _measured(
            "tab:cppool",
            "pools_small",
            "with three seeds, separate {train.separate pass@2:.1f}, table {train.table pass@2:.1f}",
            ("train.separate pass@2 > train.table pass@2",),
        ),
        Row("tab:lowrank-ablations"),
        _measured(
            "tab:compo-ablations",
            "composers_small",
            "larger backbone {train.film-larger pass@2:.1f}, more hidden units {train.film-wide pass@2:.1f}, more "
            "expressive {train.film-deep pass@2:.1f}, slots {train.composition pass@2:.1f}, "
            "table {train.table pass@2:.1f}",
            ("train.table pass@1000 > train.composition pass@1000",),
        ),
        _measured(
            "tab:cose-arc1training-ablations",
            "speedrun",
            "ungated {pass@2:.1f}, a model of 3.7M parameters after 11 minutes",
        ),
        *(
            Row(label, (), "nothing to run", paper="a diagram", command="see memory.md", cost="none")
            for label in DIAGRAMS
        ),
    ),
    "Data, optimizer, evaluation": (
        *map(Row, ("tab:arc1-rearc-data-ablations", "tab:arc2-rearc-data-ablations", "tab:data-ratio")),
        Row(
            "tab:rearc2-corrections",
            command="charm rearc2 check",
            cost="a check takes seconds for each package",
            paper="22 of 609 packages flagged by a second model, 7 of them with real faults",
            check="609 packages, all accepted by the check; 609 second readings, 527 agreed and 82 led to a fix: "
            "[rearc2.md](rearc2.md)",
        ),
        Row("tab:optimizer-ablations"),
        Row(
            "tab:ttc-protocols",
            command="charm eval RUN --protocol extra",
            cost="relative compute is a property of a protocol",
            paper="none 1, standard about 10^4, extra about 6 x 10^4, HRM/TRM 10^4, URM 10^5",
            check="the same to that digit, by a test (`tests/evaluation/test_protocols.py`), if each depth counts as "
            "one prediction and HRM's and TRM's runs have 10 checkpoints, the others 60; the paper does not say how "
            "it counts",
        ),
        Row("tab:ttc"),
    ),
    "The recurrent backbone": (
        Row("tab:scaling"),
        Row("tab:scaling-tbptt"),
        Row("fig:recurrent-backbone-design", paper="their numbers"),
    ),
    "Cellular automata": (
        Row(
            "tab:car-single-horizon",
            (
                Ours("car_small", f"{CAR_SEEN}; {CAR_UNSEEN}", SEEN_CLAIMS + UNSEEN_CLAIMS),
                Ours("car_cpu", f"{CAR_SEEN}; {CAR_UNSEEN}", SEEN_CLAIMS + UNSEEN_CLAIMS),
            ),
        ),
        _measured(
            "fig:car-late-emergence",
            "car_small",
            "no delay at this size: in the end composition {composition unseen:.1f}, CoSE {CoSE unseen:.1f}",
            UNSEEN_CLAIMS[:1],
        ),
        _measured(
            "tab:car-unseen-horizon",
            "car_small",
            "composition: T=1 {composition unseen T=1:.1f}, T=2 {composition unseen T=2:.1f}; "
            "CoSE: {CoSE unseen T=1:.1f}, {CoSE unseen T=2:.1f}",
            tuple(f"composition unseen T={t} > CoSE unseen T={t}" for t in (1, 2)),
        ),
        Row("tab:car-all-horizons"),
        _measured("tab:car-gpt", "car_small", "seen, CoSE: T=1 {CoSE seen T=1:.1f}, T=2 {CoSE seen T=2:.1f}"),
    ),
    "Language": (
        _measured(
            "tab:nanochat-d12",
            "language_gpu",
            "x5: Engram {Engram x5:.4f}, CoSE {CoSE x5:.4f}; x20: {Engram x20:.4f}, {CoSE x20:.4f}; "
            "stock {stock:.4f}",
            TEXT_CLAIMS + ENGRAM_CLAIMS,
        ),
        *map(Row, ("tab:nanochat-d12-width", "tab:nanochat-d20")),
        _measured(
            "tab:nanochat-token-budget",
            "language_gpu",
            "CoSE minus Engram: {difference x5:.4f} at x5, {difference x20:.4f} at x20",
            TEXT_CLAIMS,
        ),
        _measured(
            "fig:lm-memory-scaling",
            "language_gpu",
            "five points, three seeds each",
            TEXT_CLAIMS + ENGRAM_CLAIMS,
            paper="their numbers",
        ),
        Row(
            "fig:cose-generalization",
            (
                Ours(
                    "language_gpu",
                    "a: x5 Engram {Engram x5:.4f}, CoSE {CoSE x5:.4f}; x20 {Engram x20:.4f}, {CoSE x20:.4f}",
                    TEXT_CLAIMS,
                ),
                Ours("car_small", f"b: {CAR_SEEN}; {CAR_UNSEEN}", SEEN_CLAIMS + UNSEEN_CLAIMS),
            ),
            paper="their numbers",
        ),
    ),
    "Unseen tasks and continual learning": (
        _measured(
            "tab:cose-cl-zero",
            "continual_gpu",
            "before learning: CoSE {CoSE zero-shot:.1f}, table {table zero-shot:.1f}; base {CoSE base:.1f}",
        ),
        Row(
            "tab:cose-cl-core",
            (
                Ours("continual_gpu", f"{MEMORY_ONLY}; {ORACLES}", STREAM_CLAIMS),
                Ours("continual_cpu", f"{MEMORY_ONLY}; {ORACLES}", STREAM_CLAIMS),
                LONG_STREAM,
            ),
        ),
        Row(
            "fig:cose-cl",
            (Ours("continual_gpu", MEMORY_ONLY, STREAM_CLAIMS), LONG_STREAM),
            paper="their numbers",
        ),
        Row(
            "fig:cl-param-efficiency-eval",
            (
                Ours(
                    "continual_gpu",
                    "one stream stands for both: memory-only CoSE {CoSE memory-only:.1f} with {CoSE memory-only "
                    "parameters:,.0f} parameters for each task, table {table memory-only:.1f} with {table memory-only "
                    "parameters:,.0f}",
                    STREAM_CLAIMS,
                ),
                LONG_STREAM,
            ),
            paper="memory-only: CoSE 12.19 ± 0.90, table 4.47 ± 0.57",
        ),
        _measured(
            "tab:cose-cl-joint",
            "continual_gpu",
            "CoSE {joint:.1f}, above memory-only {CoSE memory-only:.1f}",
            ("CoSE memory-only > joint",),
        ),
        _measured(
            "tab:cose-cl-baselines",
            "continual_gpu",
            "memory-only {CoSE memory-only:.1f}, base stays {memory-only base after:.1f}; "
            "L2-SP {l2sp composition:.1f}; rehearsal {rehearsal composition:.1f}; EWC {ewc composition:.1f}; "
            "naive {naive composition:.1f}, base after {naive composition base after:.1f}; "
            "naive, full {naive full:.1f}, base after {naive full base after:.1f}",
            METHOD_CLAIMS,
        ),
        _measured(
            "fig:cl-baseline-param-efficiency",
            "continual_gpu",
            "those of tab:cose-cl-baselines",
            METHOD_CLAIMS,
            paper="their numbers",
        ),
        _measured(
            "fig:cl-stream-dynamics",
            "continual_gpu",
            "the same pattern, [drawn](continual.png)",
            METHOD_CLAIMS[:4],
            paper="memory-only and L2-SP rise along the stream, the others forget",
        ),
        _measured(
            "tab:cose-cl-token-loss",
            "continual_gpu",
            "without halting loss: memory-only {CoSE memory-only token loss:.3f}, oracle "
            "{CoSE oracle token loss:.3f}",
            ("CoSE oracle token loss < CoSE memory-only token loss",),
        ),
        *(Row(f"tab:cose-cl-halt-{name}") for name in HALTING),
    ),
    "Parameters and compute": (
        _counted("tab:embedding-params", "CHARM 43.5M, its memory 29.9M, URM 462.0M"),
        _counted("tab:param-decomp-arc1", "43,542,561 with gate"),
        _counted("tab:param-arc1-exact", "eight designs"),
        _counted("tab:param-arc2-exact", "three designs"),
        _counted("tab:cose-cl-params", "CoSE (r=32) 31.76k for each task"),
        _measured(
            "tab:single-node-compute",
            "speed_arc1",
            "{seconds a step:.2f} s on one GPU, {training samples/s:.0f} samples/s",
            command="charm bench arc1",
            cost="seconds",
            paper="one step of 768: 0.390 s on 8 H100, 3.12 GPU-seconds; 0.260 s on 8 B200",
        ),
        Row(
            "tab:alcf-compute-scaling",
            command="torchrun --nproc-per-node 4 -m charm train arc1",
            cost="needs those machines",
            paper="one step of 768: 1.740 s on 4 A100, 0.320 s on 32",
        ),
    ),
}


ROWS = {row.label: row for rows in SECTIONS.values() for row in rows}
