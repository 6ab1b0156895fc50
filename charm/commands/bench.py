"""`charm bench`: measure speed on this machine."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Annotated

from tyro.conf import Positional, arg

from charm.commands.parsing import parse_options
from charm.commands.shared import Device, Json, output
from charm.domains import domain_of_preset
from charm.errors import CharmError


def bench(
    names: Annotated[Positional[tuple[str, ...]], arg(metavar="NAME ...", help_behavior_hint="(required)")],
    *,
    device: Device = "auto",
    json: Json = False,
) -> None:
    """Measure the training speed of presets and compare it with the machine's peak.

    Reasoners are measured in samples per second, for training and for the forward pass alone; language models in tokens
    per second, with the cost of each relative to the first. `charm bench NAME --help` lists more flags.

    Example: charm bench arc1 --batch 192

    Example: charm bench lm-d12 lm-d12-engram-x5 lm-d12-cose-x5

    Example: charm bench solve votes

    Args:
        names: presets of one domain; or solve and votes: updates of a solve and votes, with the released model.
    """
    raise CharmError("name a preset before its flags, as in `charm bench quickstart --json`, or solve, or votes")


def run_bench(words: Sequence[str]) -> None:
    """Run `charm bench NAME... FLAGS`: the domain of the first preset decides which flags may follow."""
    from charm.devices import place

    names = list(takewhile(lambda word: not word.startswith("-"), words))
    flags = words[len(names) :]
    if {*names} <= {"solve", "votes"}:
        from charm.bench.solving import SolveBench, bench_solving

        measure, options = bench_solving, SolveBench
    else:
        domain = domain_of_preset(names[0])
        for name in names:
            if domain_of_preset(name) is not domain:
                raise CharmError(f"{names[0]} and {name} cannot be compared: one uses {domain.learns_from}")
            domain.configuration(name)  # reports an unknown name
        if domain.bench is None:
            raise CharmError(f"charm bench cannot time presets on {domain.learns_from}")
        measure, options = domain.get("bench"), domain.get("bench_options")
    wanted = parse_options(f"charm bench {' '.join(names)}", options, flags)
    with place(wanted.device) as here:
        if here.world > 1:
            raise CharmError("charm bench measures one process; start it without torchrun")
        found, *shown = measure(names, wanted.options, here)
    output(wanted.json, found, *shown)
