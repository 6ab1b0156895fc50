"""The registry of domains: every domain is one entry here, and all commands work with every domain.

An entry names its functions as "module:function", and they are imported on use: `charm train lm-tiny` loads nothing of
ARC. A program that registers its own domain may give the functions themselves (see docs/extend.md).
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from charm.config import read_settings
from charm.errors import CharmError

LOSS = {"loss": ("Loss", False)}
Reference = str | Callable[..., Any] | Mapping[str, Any] | type | None


@dataclass(frozen=True)
class PageOptions:
    """What a page shows, for domains with votes."""

    protocol: str | None = None
    films: int = 0
    device: str = "auto"
    data: Path | None = None


@dataclass(frozen=True)
class NoOptions:
    """There are no options besides --device and --json."""


@dataclass(frozen=True)
class Domain:
    """Everything that commands, pages and the viewer need to know about a domain."""

    name: str
    """Its name in config.json."""
    learns_from: str
    """In words: "this run learned from ..."."""
    prefix: str
    """The prefix of its presets' names; one domain has "" and gets all others."""
    presets: Reference
    """Name -> a function that returns the configuration."""
    train: Reference
    """(configuration, run folder, place, resume, say) -> the engine that ran."""
    evaluate: Reference
    """(run folder, options, place) -> scores as JSON values, and as a table; None except on the main process."""
    preset: Reference = None
    """(name) -> the configuration, if names have short forms or errors need more than a list."""
    evaluate_options: Reference = NoOptions
    """The flags of `charm eval` as a dataclass."""
    count: Reference = None
    """(name, configuration, whether to draw our own views, data folder) -> counts as JSON values, and as a table."""
    bench: Reference = None
    """(names, options, place) -> speeds as JSON values, and as tables."""
    bench_options: Reference = NoOptions
    """The flags of `charm bench` as a dataclass."""
    curves: Reference = "charm.domains:LOSS"
    """Name in metrics.jsonl -> title and whether it is a share."""
    tables: Reference = "charm.report.pages:newest_tables"
    """(run folders, their names) -> tables for the page: a headline without a title, others with one."""
    account: Reference = None
    """(run folder) -> every parameter by component, for the page."""
    page: Reference = "charm.report.pages:write_plain_page"
    """(run folders, file, options) -> the file: the page of one run, or of several side by side."""
    headline: Reference = None
    """(run folder) -> step and scores of the newest evaluation, if metrics.jsonl does not have the best ones."""
    solves_tasks: bool = False
    """Whether its models answer ARC's tasks: a page can rank their votes by a protocol and film them, and they can be
    asked to solve a new task."""

    def get(self, part: str) -> Any:
        """Return a part of the entry, imported if it is given by name."""
        value = getattr(self, part)
        if not isinstance(value, str):
            return value
        module, _, name = value.partition(":")
        return getattr(importlib.import_module(module), name)

    def configuration(self, name: str) -> Any:
        if self.preset is not None:
            return self.get("preset")(name)
        presets = self.get("presets")
        if name not in presets:
            raise CharmError(f"there is no preset {name}; the names are {', '.join(presets)}")
        return presets[name]()

    @property
    def config_type(self) -> type[Any]:
        return type(next(iter(self.get("presets").values()))())


DOMAINS: dict[str, Domain] = {}


def register(domain: Domain) -> Domain:
    """Register a domain for all commands; the name and the prefix must be new."""
    for other in DOMAINS.values():
        if domain.name == other.name or domain.prefix == other.prefix:
            raise CharmError(f"domain {other.name} ({other.prefix}...) is already registered")
    DOMAINS[domain.name] = domain
    return domain


def domain_of_preset(name: str) -> Domain:
    """Find the domain of a preset's name: the one with the longest matching prefix."""
    fitting = [domain for domain in DOMAINS.values() if name.startswith(domain.prefix)]
    return max(fitting, key=lambda domain: len(domain.prefix))


def domain_of(run: Path) -> Domain:
    """Find the domain of a run folder, from its config.json."""
    name = read_settings(run).get("domain", "arc")  # the released run has none
    if not isinstance(name, str) or name not in DOMAINS:
        raise CharmError(f"{run} is a run of an unknown domain {name!r}")
    return DOMAINS[name]


register(
    Domain(
        name="arc",
        learns_from="ARC's tasks",
        prefix="",
        presets="charm.arc.presets:PRESETS",
        preset="charm.arc.presets:preset",
        train="charm.arc.run:train",
        evaluate="charm.arc.run:evaluate",
        evaluate_options="charm.arc.run:ArcEvaluation",
        count="charm.paper.counts:count_arc",
        bench="charm.bench.training:bench_arc",
        bench_options="charm.bench.training:ArcBench",
        curves="charm.report.page:CURVES",
        page="charm.report.pages:write_arc_page",
        headline="charm.report.folder:headline",
        solves_tasks=True,
    )
)
register(
    Domain(
        name="car",
        learns_from="cellular automata",
        prefix="car-",
        presets="charm.automata.presets:CAR_PRESETS",
        preset="charm.automata.presets:car_preset",
        train="charm.automata.run:train_car",
        evaluate="charm.automata.run:evaluate",
        evaluate_options="charm.automata.run:CarEvaluation",
        count="charm.accounting:count_car",
        bench="charm.bench.training:bench_car",
        bench_options="charm.bench.training:CarBench",
        curves="charm.automata.run:CAR_CURVES",
        tables="charm.automata.run:car_tables",
        account="charm.accounting:account_car_run",
    )
)
register(
    Domain(
        name="lm",
        learns_from="text",
        prefix="lm-",
        presets="charm.language.presets:LM_PRESETS",
        preset="charm.language.presets:lm_preset",
        train="charm.language.run:train_lm",
        evaluate="charm.language.run:evaluate",
        evaluate_options="charm.language.run:LMEvaluation",
        count="charm.language.presets:count_lm",
        bench="charm.bench.language:bench_lm",
        bench_options="charm.bench.language:LMBench",
        curves="charm.language.run:LM_CURVES",
        tables="charm.language.run:lm_tables",
    )
)
