"""Plan the runs that `charm reproduce` was asked for, start them, and collect their results."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from charm.errors import CharmError
from charm.files import write_atomically
from charm.paper import runner
from charm.paper.comparison import MOST_SEEDS, Comparison
from charm.paper.costs import hours
from charm.paper.drawn import FIGURES, draw, tables_of
from charm.paper.runner import MissingRun, gpus, missing, run_here, run_on_slurm
from charm.paper.shelf import Result, Shelf
from charm.paper.sizes import SizeName
from charm.paper.tables import TABLES, PaperLine, PaperTable, run_table
from charm.paper.variants import Variant
from charm.tables import Table

SEEDS = 3  # default at sizes other than full
CPU_SIZES = ("smoke", "cpu")


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Selected lines of selected tables, at one size."""

    parts: tuple[tuple[PaperTable, tuple[PaperLine, ...]], ...]
    figures: tuple[str, ...]
    seeds: int | None
    shelf: Shelf

    @staticmethod
    def of(
        labels: Sequence[str],
        size: SizeName,
        seeds: int | None,
        variants: Sequence[str],
        out: Path,
        data: Path | None,
    ) -> Reproduction:
        if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
            raise CharmError(f"--seeds must be from 1 to {MOST_SEEDS}, got {seeds}")
        figures = tuple(label for label in labels if label in FIGURES)
        tables = [run_table(label) for label in _tables(labels)]
        names = dict.fromkeys(line.variant.name for table in tables for line in table.runs)
        for name in variants:
            if name not in names:
                raise CharmError(
                    f"{' '.join(labels)}: there is no variant {name!r}; expected some of {', '.join(names)}"
                )
        parts = tuple(
            (table, tuple(line for line in table.runs if not variants or line.variant.name in variants))
            for table in tables
        )
        return Reproduction(parts, figures, seeds, Shelf(out, size, data))

    def wanted(self) -> list[tuple[Variant, range]]:
        """Variants and their seeds, bases of streams first. Runs that lines share are listed once."""
        lines = [line for _, some in self.parts for line in some]
        bases = [(line.variant.base, range(1)) for line in lines if line.variant.base]
        found: dict[str, tuple[Variant, range]] = {}
        for variant, seeds in (*bases, *((line.variant, self._seeds(line)) for line in lines)):
            home = variant.home(self.shelf.size)
            if home not in found or len(found[home][1]) < len(seeds):
                found[home] = variant, seeds
        return list(found.values())

    def _seeds(self, line: PaperLine) -> range:
        paper = line.seeds if self.shelf.size == "full" else SEEDS
        return range(paper if self.seeds is None else self.seeds)

    def missing(self) -> list[MissingRun]:
        return missing(self.wanted(), self.shelf)

    def state(self) -> str:
        """A sentence about how many runs are finished."""
        total, left = sum(len(seeds) for _, seeds in self.wanted()), len(self.missing())
        finished = f"{total - left} of {total} runs are finished"
        return f"{finished}; the same command continues" if left else finished

    # Before

    def overview(self) -> Iterator[Table | str]:
        """The planned runs with their commands and estimated hours."""
        jobs, rows = self.missing(), []
        each = {variant.key: hours(variant, self.shelf.size) for variant, _ in self.wanted()}
        for variant, seeds in self.wanted():
            left = sum(job.variant.key == variant.key for job in jobs)
            one = each[variant.key]
            rows.append([variant.key, f"{left} of {len(seeds)}", _time(one), _time(one * left)])
        every = sum(len(seeds) for _, seeds in self.wanted())
        total = sum(each[job.variant.key] for job in jobs)
        rows.append(["all", f"{len(jobs)} of {every}", "", _time(total)])
        cpu = self.shelf.size in CPU_SIZES
        yield Table(
            ["variant", "missing runs", "time per run", "time"],
            rows,
            f"{', '.join(table.label for table, _ in self.parts)}, size {self.shelf.size}",
            f"Estimated for {'two CPU cores' if cpu else 'one NVIDIA H200'} with nothing else running.",
            totals=[len(rows) - 1],
        )
        for about in dict.fromkeys(variant.size(self.shelf.size).about for variant, _ in self.wanted()):
            yield f"{self.shelf.size}: {about}"
        for job in jobs:
            yield from commands(job, self.shelf)

    def to_json(self) -> dict[str, Any]:
        """The plan as JSON."""
        runs = [
            {
                "variant": job.variant.key,
                "seed": job.seed,
                "hours": hours(job.variant, self.shelf.size),
                "commands": commands(job, self.shelf),
            }
            for job in self.missing()
        ]
        return {"size": self.shelf.size, "missing": runs, "hours": sum(one["hours"] for one in runs)}

    # Runs

    def run(self, device: str, at_once: int | None, say: Callable[[str], None]) -> list[str]:
        """Run what is missing on this machine; return a sentence for each failed run."""
        jobs = self.missing()
        if not jobs:
            return []
        if self.shelf.size in CPU_SIZES and device == "auto":
            device = "cpu"
        self.shelf.prepare(job.variant for job in jobs)
        side_by_side = at_once or self._fitting(device)
        say(f"{len(jobs)} runs to make, {side_by_side} at once; logs and checkpoints are in {self.shelf.out}")
        return run_here(jobs, self.shelf, device, side_by_side, say)

    def _fitting(self, device: str) -> int:
        """Number of concurrent runs: as many on each GPU as the largest run allows, or one without a GPU."""
        count = len(gpus()) if device in ("auto", "cuda") else 0
        return max(1, count * min(variant.size(self.shelf.size).together for variant, _ in self.wanted()))

    def submit(self, device: str, at_once: int | None, settings: Sequence[str]) -> str:
        """Submit the missing runs to Slurm."""
        jobs = self.missing()
        if not jobs:
            return self.state()
        given: dict[str, str | int] = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or not name:
                raise CharmError(f"--slurm-settings must be KEY=VALUE, got {setting!r}")
            given[name] = int(value) if value.isdecimal() else value
        self.shelf.prepare(job.variant for job in jobs)
        numbers = run_on_slurm(jobs, self.shelf, device, at_once or len(jobs), given)
        return (
            f"{len(jobs)} runs submitted as {numbers[0]} to {numbers[-1]}; "
            f"the same command with --show in place of --slurm prints what has finished"
        )

    # After

    def comparisons(self) -> list[Comparison]:
        return [Comparison.of(table, self.shelf, lines) for table, lines in self.parts]

    def shown(self) -> Iterator[Table | str]:
        for comparison in self.comparisons():
            yield comparison.scores_table()
            if comparison.claims():
                yield comparison.claims_table()
            if told := comparison.alone_text():
                yield told

    def record(self, folder: Path) -> list[Path]:
        """Write finished results as records for the reproduction page, one for each table; return the files."""
        written = []
        for comparison in self.comparisons():
            label = comparison.table.label
            found = {key: some for key, some in comparison.results.items() if some}
            seeds = sorted(set.intersection(*(set(some) for some in found.values()))) if found else []
            if not seeds:
                raise CharmError(
                    f"{label}: no seed is finished for all variants; use --variants to leave some out"
                )
            # Lines may share a run; keys differ by the prefix of their scores.
            by_run = {key.partition("@")[0]: some for key, some in found.items()}
            runs = [some[seed] for some in by_run.values() for seed in seeds]
            numbers = {
                f"{line.key} {measure}": [comparison.scores(line, measure)[seed] for seed in seeds]
                for line in comparison.table.runs
                for measure in line.paper or comparison.table.measures
                if line.key in found and set(seeds) <= set(comparison.scores(line, measure))
            }
            settings = {
                line.variant.size(self.shelf.size).about
                for line in comparison.table.runs
                if line.key in found
            }
            at_once = max(run.get("at_once", 1) for run in runs)
            every = [line.variant.name for line in comparison.table.runs]
            some = [line.variant.name for line in comparison.table.runs if line.key in found]
            chosen = "" if some == every else f" --variants {' '.join(dict.fromkeys(some))}"
            path = folder / f"{record_name(label, self.shelf.size)}.json"
            record = {
                "what": f"{label}, size {self.shelf.size}",
                "command": f"charm reproduce {label} --size {self.shelf.size} --seeds {len(seeds)} --jobs {at_once}"
                f"{chosen}",
                "size": "; ".join(sorted(settings)),
                "machine": ", ".join(sorted({run["machine"] for run in runs})),
                "date": max(run["date"] for run in runs),
                "seeds": seeds,
                "numbers": numbers,
            }
            lines = ",\n".join(f"  {json.dumps(_kept(run, seeds[0]))}" for run in runs)
            write_atomically(path, f'{json.dumps(record, indent=1)[:-2]},\n "runs": [\n{lines}\n ]\n}}\n')
            written.append(path)
        return written

    def draw(self) -> list[Path]:
        """Draw the requested figures from the finished runs."""
        found = {one.table.label: one for one in self.comparisons()}
        folder = self.shelf.out / self.shelf.size / "figures"
        return [path for label in self.figures for path in draw(label, found, folder)]


CURVE = ("step", "loss", "token_loss", "exact_accuracy")  # of a curve, in a record; scores along the way too


def _kept(run: Result, first: int) -> Result:
    """A run as a record has it: settings are those of the variant's first seed but for the seed."""
    curve = [
        {name: value for name, value in line.items() if name in CURVE or name.startswith("evaluation/")}
        for line in run.get("curve", ())
    ]
    kept = {name: value for name, value in run.items() if name != "settings" or run["seed"] == first}
    return {**kept, "curve": curve}


def record_name(label: str, size: SizeName) -> str:
    """The name of the record that the reproduction page looks for."""
    return f"{label.partition(':')[2]}_{size}"


def _tables(labels: Sequence[str]) -> list[str]:
    """The tables with runs for these labels of tables and figures."""
    found: dict[str, None] = {}
    for label in labels:
        if label in FIGURES:
            found |= dict.fromkeys(tables_of(label))
        elif label in TABLES and TABLES[label].lines:
            found[label] = None
        elif label in TABLES and TABLES[label].command.startswith("charm"):
            raise CharmError(
                f"{label} has no runs of this kind; `{TABLES[label].command}` makes or checks it"
            )
        elif label in TABLES and TABLES[label].section:
            raise CharmError(f"{label} has nothing to run: {TABLES[label].paper}")
        else:
            raise CharmError(
                f"the paper has no table or figure {label!r}; `charm reproduce` lists the labels"
            )
    return list(found)


def commands(job: MissingRun, shelf: Shelf) -> list[str]:
    """Shell commands that do the same run by hand."""
    variant, folder = job.variant, str(shelf.run_folder(job.variant, job.seed))
    preset, flags = variant.flags(shelf.size, job.seed)
    if variant.base:
        if shelf.size != "full":  # `charm adapt` has no flags for shorter stages and faster rates
            return [shlex.join(["python", "-m", *runner.command(job, shelf, "auto", 1)[2:]])]
        base = str(shelf.run_folder(variant.base, 0))
        return [shlex.join(["charm", "adapt", base, *flags, "--out", str(Path(folder).parent)])]
    config = shelf.config(variant, job.seed)
    data = config.data if variant.domain.name == "lm" else config.data.data
    place = [] if data is None else ["--data" if variant.domain.name == "lm" else "--data.data", str(data)]
    words = [shlex.join(["charm", "train", preset, *flags, *place, "--out", folder])]
    for options in variant.size(shelf.size).evaluations.values():
        asked = []
        for name, value in options.items():
            values = value if isinstance(value, tuple) else (value,)
            asked += [f"--{name.replace('_', '-')}", *map(str, values)]
        words.append(shlex.join(["charm", "eval", folder, *asked]))
    return words


def catalogue() -> tuple[dict[str, Any], Table]:
    """All labels with their numbers of variants and hours, as JSON and as a table."""
    found, rows = {}, []
    for label in dict.fromkeys((*(one.label for one in TABLES.values() if one.lines), *FIGURES)):
        sizes: dict[str, float] = {}
        for size in ("small", "full"):
            plan = Reproduction.of([label], size, None, (), Path(), None)
            sizes[size] = sum(len(seeds) * hours(variant, size) for variant, seeds in plan.wanted())
        found[label] = {"variants": len(plan.wanted()), **sizes}
        rows.append([label, str(found[label]["variants"]), _time(sizes["small"]), _time(sizes["full"])])
    caption = "Estimated time on one NVIDIA H200: three seeds at size small, the paper's own at size full."
    return found, Table(
        ["label", "variants", "small", "full"], rows, "The paper's tables and figures", caption
    )


def _time(given: float) -> str:
    return f"{given:,.0f} h" if given >= 10 else f"{given:.1f} h" if given >= 1 else f"{60 * given:.1f} min"
