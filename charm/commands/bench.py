"""`charm bench`: measure speed on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Annotated

from tyro.conf import Positional, arg

from charm.commands.presets import parse_options
from charm.commands.shared import Device, Json, output
from charm.domains import NoOptions, domain_of_preset
from charm.errors import CharmError
from charm.progress import status


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

    Example: charm bench votes

    Args:
        names: presets of one domain, or votes: the time from 385,460 predicted canvases to pass@k.
    """
    raise CharmError("name a preset before its flags, as in `charm bench quickstart --json`, or votes")


def run_bench(words: Sequence[str]) -> None:
    """`charm bench NAME... FLAGS`: the domain of the first preset decides which flags may follow."""
    from charm.devices import place

    names = list(takewhile(lambda word: not word.startswith("-"), words))
    flags = words[len(names) :]
    if names == ["votes"]:
        from charm.bench.votes import measure, votes_table

        json = parse_options("charm bench votes", NoOptions, flags).json
        with status("counting and ranking 385,460 votes (about 20 s)"):
            votes = measure()
        output(json, votes, votes_table(votes))
        return
    domain = domain_of_preset(names[0])
    for name in names:
        if domain_of_preset(name) is not domain:
            raise CharmError(f"{names[0]} and {name} cannot be compared: one uses {domain.learns_from}")
        domain.configuration(name)  # reports an unknown name
    if domain.bench is None:
        raise CharmError(f"charm bench cannot time presets on {domain.learns_from}")
    wanted = parse_options(f"charm bench {' '.join(names)}", domain.get("bench_options"), flags)
    with place(wanted.device) as here:
        if here.world > 1:
            raise CharmError("charm bench measures one process; start it without torchrun")
        found, *shown = domain.get("bench")(names, wanted.options, here)
    output(wanted.json, found, *shown)
