from __future__ import annotations

import io
import json
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from benchmarks.records import read_records
from charm.accounting import Size, account
from charm.arc.presets import PRESETS, preset
from charm.commands.params import params
from charm.drawing.terminal import show
from charm.models.canvas.config import HRM, CanvasConfig
from charm.models.model import ModelConfig
from charm.paper import counts as paper_counts
from charm.paper.counts import (
    as_printed,
    check_paper,
    drawn_sizes,
    paper_dataset,
    paper_tables,
    tally,
)
from charm.paper.runs import DATASETS
from charm.paper.tables import TABLES, PaperCount, PaperTable
from charm.tasks.dataset import DataConfig
from charm.tasks.keys import MemoryConfig

ARC1, ARC1_REARC = "ARC-AGI-1", "ARC-AGI-1 + Re-ARC"
ARC2, ARC2_REARC2 = "ARC-AGI-2", "ARC-AGI-2 + Re-ARC2"
TRAIN_STREAM, EVAL_STREAM = "ARC-AGI-2 training stream", "ARC-AGI-2 evaluation stream"
ROOT = Path(__file__).parents[2]
FULL_TABLE = MemoryConfig(design="table", rank=512)


def test_every_claim_of_the_paper_is_counted_again() -> None:
    checks = check_paper({})
    assert [(c.table, c.claim.label, c.claim.printed, c.ours) for c in checks if not c.passed] == []
    # As many as the paper's tables have cells (with CAR's backbone named in each line).
    assert {table.label: len(table.counts) for table in TABLES.values() if table.counts} == {
        "tab:embedding-params": 6 * 3,
        "tab:param-decomp-arc1": 9,
        "tab:param-arc1-exact": 8 * 4,
        "tab:param-arc2-exact": 3 * 4,
        "tab:full-cose-ablation": 6,
        "tab:full-cose-ablation-no-rearc": 5,
        "tab:component-grid": 4 * 2,
        "tab:overall-arc-performance": 4 * 2,
        "sec:task-memory": 2,
        "tab:scaling": 16,
        "tab:scaling-tbptt": 20,
        "tab:car-single-horizon": 4 * 3,
        "tab:car-all-horizons": 6 * 2,
        "app:lm": 2,
        "tab:nanochat-d12": 5 * 2,
        "tab:nanochat-d12-width": 3 * 3,
        "tab:nanochat-d20": 3 * 2,
        "tab:cose-cl-params": 7 * 3 + 2,  # and two in its caption
        "tab:cose-cl-core": 14 * 2,
        "tab:cose-cl-joint": 14,
        "tab:cose-cl-baselines": 10,
        "fig:cl-baseline-param-efficiency": 3,
    }


def test_only_what_is_checked_is_counted_as_agreeing() -> None:
    """Six numbers of rows and two means of them are the paper's own; HRM's total is not what the paper prints."""
    checks = check_paper({})
    given = [(check.table, check.claim.label) for check in checks if check.claim.standing == "given"]
    assert [label for table, label in given if table != "tab:embedding-params"] == ["rows of a puzzle"] * 2
    assert sum(label.endswith(": rows") for _, label in given) == 6
    assert len(given) == 8
    differing = [check for check in checks if not check.agrees]
    assert [(one.claim.label, one.claim.printed, one.ours) for one in differing] == [("HRM: ARC-1 all", "475M", "476M")]
    found = tally(checks)
    assert found == {"counts": len(checks) - 8, "agree": len(checks) - 9, "given": 8}
    record = read_records(ROOT / "benchmarks" / "results")["parameters"]
    assert (record.number("counts"), record.number("agree")) == (found["counts"], found["agree"])
    readme = (ROOT / "README.md").read_text()
    assert f"{found['agree']} of the paper's {found['counts']} parameter counts" in readme


def test_the_numbers_in_notes_and_readings() -> None:
    """What the paper's tables would print under the readings that are not taken."""
    charm = CanvasConfig()
    gated = account(ModelConfig(charm, MemoryConfig(gate=True)), *DATASETS[ARC1].size)
    assert gated.total == 43_507_745
    assert as_printed(gated.total, "43M") == "44M"
    hrm_total = account(ModelConfig(HRM, FULL_TABLE), *DATASETS[ARC1].size).total
    assert hrm_total == 475_593_218
    assert as_printed(hrm_total, "475M") == "476M"
    assert as_printed(account(ModelConfig(charm, FULL_TABLE), 1, 1).backbone, "13.6M") == "13.7M"
    notes = " ".join(claim.note for table in TABLES.values() for claim in table.counts)
    assert "43,507,745" in notes
    assert "475,593,218" in notes


@given(
    count=st.fractions(0, 10**10, max_denominator=1000),
    decimals=st.integers(0, 4),
    unit=st.sampled_from(["", "k", "M", "B"]),
)
def test_as_printed_rounds_as_decimal_does(count: Fraction, decimals: int, unit: str) -> None:
    like = ("0." + "0" * decimals if decimals else "0") + unit
    scale = {"": 0, "k": 3, "M": 6, "B": 9}[unit]
    # 30 digits hold every fraction of this kind far beyond the last printed one.
    exact = Decimal(count.numerator) / Decimal(count.denominator)
    rounded = exact.scaleb(-scale).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    assert as_printed(count, like) == f"{rounded:,}{unit}"


def test_as_printed_by_hand() -> None:
    assert as_printed(29_879_328, "29.9M") == "29.9M"
    assert as_printed(Fraction(6351513, 200), "31.76k") == "31.76k"
    assert as_printed(13_663_233, "13,663,234") == "13,663,233"
    assert as_printed(14_765_500, "14.765M") == "14.766M"
    assert as_printed(1_100_000, "1.10M") == "1.10M"


def _wrong() -> PaperTable:
    right = PaperCount("right", ARC1_REARC, "arc1.cose-gated", "memory", "29.9M")
    return PaperTable("made up", counts=(right, replace(right, label="wrong", printed="29.8M")))


def test_a_wrong_claim_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_counts, "TABLES", {"made up": _wrong()})
    right, wrong = check_paper({})
    assert right.passed
    assert not wrong.passed
    shown = io.StringIO()
    show(*paper_tables([right, wrong]), console=Console(width=100, file=shown))
    assert [line.split()[-1] for line in shown.getvalue().splitlines() if "29,879,328" in line] == ["✓", "✗"]


def test_our_views_may_differ_by_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = PaperCount("rows", ARC1, "arc1.cose", "rows", "0.876M")
    monkeypatch.setattr(paper_counts, "TABLES", {"made up": PaperTable("made up", counts=(rows,))})
    assert check_paper({ARC1: Size(960, 877_300)})[0].passed  # +0.19 %
    assert not check_paper({ARC1: Size(960, 877_400)})[0].passed  # +0.20 % and a little
    assert not check_paper({ARC1: Size(960, 873_800)})[0].passed
    assert check_paper({ARC2: Size(1, 1)})[0].drawn is None


def test_our_streams_are_the_paper_streams_and_what_is_missing_is_named(tmp_path: Path) -> None:
    sizes, missing = drawn_sizes(data=tmp_path)
    assert set(sizes) == {TRAIN_STREAM, EVAL_STREAM}
    assert (sizes[TRAIN_STREAM].puzzles, sizes[EVAL_STREAM].puzzles) == (233, 114)
    assert [line.split(" is left out")[0] for line in missing] == [ARC1, ARC1_REARC, ARC2, ARC2_REARC2]
    assert "charm data fetch concept-arc" in missing[0]
    checks = check_paper(sizes)
    assert all(check.passed for check in checks)
    drawn = [check for check in checks if check.drawn is not None]
    assert {check.claim.data for check in drawn} == {TRAIN_STREAM, EVAL_STREAM}
    # The means to two decimals; the training stream's depends on which views are drawn.
    means = {check.claim.data: check.drawn for check in drawn if check.claim.label == "rows of a puzzle"}
    assert float(means[TRAIN_STREAM] or 0) == pytest.approx(976.42, abs=0.1)
    assert float(means[EVAL_STREAM] or 0) == pytest.approx(996.28, abs=0.1)


def test_paper_dataset() -> None:
    arc2 = DataConfig(train=("arc2/training",), evaluate=("arc2/evaluation",))
    assert paper_dataset(DataConfig()) == ARC1
    assert paper_dataset(DataConfig(canvas="fit", seed=3, evaluate_repeats=1)) == ARC1
    assert paper_dataset(DataConfig(synthetic=("rearc",))) == ARC1_REARC
    assert paper_dataset(DataConfig(synthetic=("rearc",), synthetic_views="own")) is None
    assert paper_dataset(arc2) == ARC2
    assert paper_dataset(DataConfig(arc2.train, arc2.evaluate, synthetic=("rearc",))) == ARC2
    both = DataConfig(arc2.train, arc2.evaluate, synthetic=("rearc", "rearc2"), synthetic_views="own")
    assert paper_dataset(both) == ARC2_REARC2
    for other in (DataConfig(views=999), DataConfig(auxiliary=()), DataConfig(color_pool=1000)):
        assert paper_dataset(other) is None


def test_every_preset_can_be_counted() -> None:
    for name in PRESETS:
        config = preset(name)
        known = paper_dataset(config.data)
        size = DATASETS[known].size if known else Size(400, 400_000)
        assert account(config.model, *size).total > 0


# The command


def test_params_paper(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = {ARC1: Size(960, 875_616)}
    monkeypatch.setattr(paper_counts, "drawn_sizes", lambda names, data: (drawn, ["Re-ARC2 is left out: gone"]))
    params(paper=True)
    text = capsys.readouterr().out
    assert "Re-ARC2 is left out: gone" in text
    assert "448,315,392" in text
    assert "✗" not in text
    params(paper=True, json=True)
    found = json.loads(capsys.readouterr().out)
    assert (found["failed"], found["counts"] + found["given"]) == (0, len(found["checks"]))
    assert f"{found['agree']} of {found['counts']} counts agree" in " ".join(text.split())
    assert next(one["drawn"] for one in found["checks"] if one["label"] == "URM, full table: rows") == 875_616
    again = sum(check["drawn"] is not None for check in found["checks"])
    assert 0 < again < found["counts"]
    assert f"With our own views {again} of them were made again" in " ".join(text.split())


@pytest.mark.parametrize("as_json", [False, True])
def test_params_paper_exits_with_1_on_a_difference(
    as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paper_counts, "drawn_sizes", lambda names, data: ({}, []))
    monkeypatch.setattr(paper_counts, "TABLES", {"made up": _wrong()})
    with pytest.raises(SystemExit) as stopped:
        params(paper=True, json=as_json)
    assert stopped.value.code == 1
    shown = capsys.readouterr()
    assert "1 of 2 counts differ" in shown.err
    assert "wrong: the paper prints 29.8M, ours is 29.9M" in shown.err
    if as_json:
        assert json.loads(shown.out)["failed"] == 1
    else:
        assert "✗" in shown.out
