"""Write finished runs of `charm reproduce` as records for the reproduction page, one for each table.

python -m benchmarks.paper_record benchmarks/results tab:full-cose-ablation --size small [--variants table cose]

Runs are read from OUT (runs/reproduce), as `charm reproduce --out OUT` left them; nothing is run. The page is then made
again by `python -m benchmarks.reproduction`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from charm.errors import CharmError
from charm.files import write_atomically
from charm.paper.comparison import Comparison
from charm.paper.plans import Reproduction
from charm.paper.runs import SIZE_NAMES, SizeName
from charm.paper.tables import TABLES
from charm.paper.work import Result

CURVE = ("step", "loss", "token_loss", "exact_accuracy")  # of a curve, in a record; scores along the way too


def write_records(plan: Reproduction, folder: Path) -> list[Path]:
    """Write the record of each table; return the files."""
    return [write_record(comparison, plan.shelf.size, folder) for comparison in plan.comparisons()]


def write_record(comparison: Comparison, size: SizeName, folder: Path) -> Path:
    """Write the seeds that all of a table's variants have."""
    label = comparison.table.label
    found = {key: some for key, some in comparison.results.items() if some}
    seeds = sorted(set.intersection(*map(set, found.values()))) if found else []
    if not seeds:
        raise CharmError(f"{label}: no seed is finished for all variants; use --variants to leave some out")
    lines = [line for line in comparison.table.runs if line.key in found]
    # Lines may share a run; keys differ by the prefix of their scores.
    by_run = {line.run: found[line.key] for line in lines}
    runs = [some[seed] for some in by_run.values() for seed in seeds]
    measured = [(line, measure) for line in lines for measure in line.paper or comparison.table.measures]
    scores = {f"{line.key} {measure}": comparison.scores(line, measure) for line, measure in measured}
    numbers = {name: [one[seed] for seed in seeds] for name, one in scores.items() if {*seeds} <= {*one}}
    chosen = dict.fromkeys(line.variant.name for line in lines)
    given = f" --variants {' '.join(chosen)}" if len(lines) < len(TABLES[label].runs) else ""
    at_once = max(run.get("at_once", 1) for run in runs)
    command = f"charm reproduce {label} --size {size} --seeds {len(seeds)} --jobs {at_once}{given}"
    record: Result = {"what": f"{label}, size {size}", "command": command}
    record["size"] = "; ".join(sorted({line.variant.size(size).about for line in lines}))
    record["machine"] = ", ".join(sorted({run["machine"] for run in runs}))
    record |= {"date": max(run["date"] for run in runs), "seeds": seeds, "numbers": numbers}
    path = folder / f"{record_name(label, size)}.json"
    text = ",\n".join(f"  {json.dumps(_without_details(run, seeds[0]))}" for run in runs)
    write_atomically(path, f'{json.dumps(record, indent=1)[:-2]},\n "runs": [\n{text}\n ]\n}}\n')
    return path


def _without_details(run: Result, first: int) -> Result:
    """Return a run as a record has it: settings are those of the variant's first seed but for the seed."""
    names = {name for line in run.get("curve", ()) for name in line if name in CURVE or name.startswith("evaluation/")}
    curve = [{name: value for name, value in line.items() if name in names} for line in run.get("curve", ())]
    kept = {name: value for name, value in run.items() if name != "settings" or run["seed"] == first}
    return {**kept, "curve": curve}


def record_name(label: str, size: SizeName) -> str:
    """Return the name of the record that the reproduction page looks for."""
    return f"{label.partition(':')[2]}_{size}"


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where records are written")
    parser.add_argument("labels", nargs="+", help="tables and figures by their label in the paper's source")
    parser.add_argument("--size", choices=SIZE_NAMES, default="small")
    parser.add_argument("--seeds", type=int, help="of each variant; 3, or as many as the paper has at size full")
    parser.add_argument("--variants", nargs="*", default=(), help="only these lines of the tables")
    parser.add_argument("--out", type=Path, default=Path("runs/reproduce"))
    options = parser.parse_args(words)
    try:
        plan = Reproduction.of(options.labels, options.size, options.seeds, options.variants, options.out, None)
        print(*write_records(plan, options.folder), sep="\n")
    except CharmError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
