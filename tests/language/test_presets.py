"""Every named run, and the 24 counts of memory that the paper prints."""

import pytest

from charm.errors import CharmError
from charm.language.gpt import components
from charm.language.presets import LM_PRESETS, lm_preset

# Counted by hand from R rows of w / 8, two key and value maps, composers, convolutions (the spec's table).
MEMORY = {
    "lm-d12-cose-x0": 3_545_088,
    "lm-d12-engram-x5": 254_277_120,
    "lm-d12-cose-x5": 257_816_064,
    "lm-d12-mixture-x5": 256_048_128,
    "lm-d12-engram-x10": 505_977_984,
    "lm-d12-cose-x10": 509_516_928,
    "lm-d12-mixture-x10": 507_748_992,
    "lm-d12-engram-x20": 1_009_327_296,
    "lm-d12-cose-x20": 1_012_866_240,
    "lm-d12-mixture-x20": 1_011_098_304,
    "lm-d12-engram-x40": 2_015_993_856,
    "lm-d12-cose-x40": 2_019_532_800,
    "lm-d12-mixture-x40": 2_017_764_864,
    "lm-d12-engram-x5-w24": 15_898_080,
    "lm-d12-cose-x5-w24": 19_437_024,
    "lm-d12-mixture-x5-w24": 19_327_968,
    "lm-d12-engram-x5-w48": 31_790_016,
    "lm-d12-cose-x5-w48": 35_328_960,
    "lm-d12-mixture-x5-w48": 35_109_312,
    "lm-d12-engram-x5-w96": 63_573_888,
    "lm-d12-cose-x5-w96": 67_112_832,
    "lm-d12-mixture-x5-w96": 66_672_000,
    "lm-d20-engram-x5": 426_416_640,
    "lm-d20-cose-x5": 436_247_040,
    "lm-d20-mixture-x5": 431_334_400,
    "lm-d20-engram-x10": 845_918_080,
    "lm-d20-cose-x10": 855_748_480,
    "lm-d20-mixture-x10": 850_835_840,
    "lm-d20-engram-x20": 1_684_833_600,
    "lm-d20-cose-x20": 1_694_664_000,
    "lm-d20-mixture-x20": 1_689_751_360,
}


def test_a_sum_stands_below_its_parts() -> None:
    below: list[int] = []
    counted = components(lm_preset("lm-d12-cose-x5").gpt, lm_preset("lm-d12-cose-x5").ngram)
    for name, count in counted.items():
        if name in ("backbone", "memory"):
            assert count == sum(below)
            below = []
        else:
            below.append(count)
    assert counted["total"] == counted["backbone"] + counted["memory"]


@pytest.mark.parametrize("name", [*LM_PRESETS, *MEMORY, "lm-tiny-cose", "lm-tiny-mixture", "lm-d12-cose-one-row"])
def test_every_preset_has_the_parameters_of_its_formula(name: str) -> None:
    config = lm_preset(name)
    found = components(config.gpt, config.ngram)
    if name in MEMORY:
        assert found["memory"] == MEMORY[name]
    width, w, variant = config.gpt.model_width, config.ngram.width, config.ngram.variant
    p, columns = width // 2, w // 8
    rows = found["memory tables"] // columns
    dense = {
        "none": 0,
        "engram": 2 * (4 * w * width + 4 * width),
        "cose": 2 * (4 * w * width * (rows > 0) + 4 * width) + 2 * (3 * width * p + 2 * p * p) + 4 * p * width,
        "mixture": 2 * (3 * width * p + 2 * p * p + 2 * p * width + 4 * width + 2 * p * w + 2 * p),
    }
    assert found["memory maps"] == dense[variant]
    assert found["total"] == found["backbone"] + found["memory"]


def test_the_paper_presets_run_for_its_tokens() -> None:
    d12, d20 = lm_preset("lm-d12"), lm_preset("lm-d20-cose-x5")
    assert d12.steps * d12.batch == pytest.approx(1.19e9, rel=0.001)
    assert d20.steps * d20.batch == pytest.approx(4.64e9, rel=0.001)
    assert d12.evaluate_tokens == d20.evaluate_tokens == 10_485_760


@pytest.mark.parametrize("base", ["lm-d12", "lm-d20"])
def test_controls(base: str) -> None:
    def memory(name: str) -> dict[str, int]:
        config = lm_preset(f"{base}-{name}")
        return components(config.gpt, config.ngram)

    assert memory("cose-x0")["memory tables"] == 0
    width = lm_preset(base).gpt.model_width
    assert memory("cose-one-row")["memory tables"] == 32 * width // 2 // 8
    for size in ("x5", "x10", "x20"):  # never fewer parameters than CoSE, and hardly more
        cose = memory(f"cose-{size}")["memory"]
        assert 0 <= memory(f"engram-{size}-matched")["memory"] - cose < 0.002 * cose
        assert memory(f"engram-{size}")["memory"] < cose


def test_an_unknown_preset_is_named() -> None:
    for name in ("lm-d13", "lm-d12-cose", "lm-d12-cose-x5-", "lm-tiny-none", "lm-d12cose-x5"):
        with pytest.raises(CharmError, match=f"no preset {name}"):
            lm_preset(name)
