"""The registry: who a preset and a run belong to, and that every entry names what exists."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from charm.config import to_json
from charm.domains import DOMAINS, Domain, domain_of, domain_of_preset, register
from charm.errors import CharmError


@pytest.mark.parametrize("domain", list(DOMAINS.values()), ids=lambda domain: domain.name)
def test_everything_an_entry_names_exists(domain: Domain) -> None:
    for field in fields(Domain):
        value = getattr(domain, field.name)
        if isinstance(value, str) and ":" in value:
            assert domain.get(field.name) is not None
    for name in domain.get("presets"):
        config = domain.configuration(name)
        assert domain_of_preset(name) is domain
        assert config.domain == domain.name


def test_presets_belong_to_the_longest_beginning() -> None:
    names = {"arc1": "arc", "car-small": "car", "lm-tiny": "lm", "carpet": "arc"}
    assert {name: domain_of_preset(name).name for name in names} == names
    with pytest.raises(CharmError, match="there is no preset carpet"):
        domain_of_preset("carpet").configuration("carpet")


@pytest.mark.parametrize(("preset", "name"), [("quickstart", "arc"), ("car-small", "car"), ("lm-tiny", "lm")])
def test_a_folder_shows_its_domain(preset: str, name: str, tmp_path: Path) -> None:
    """The released run, which is ARC's, does not have the field; the configuration is read from both alike."""
    config = domain_of_preset(preset).configuration(preset)
    for recorded in ({"domain": name}, *([{}] if name == "arc" else [])):
        (tmp_path / "config.json").write_text(json.dumps({**recorded, **to_json(config)}))
        assert domain_of(tmp_path).name == name


def test_what_is_no_run_of_a_known_domain_is_refused(tmp_path: Path) -> None:
    for content, sentence in (
        ("", "not readable"),
        ("[]", "expected a JSON object, got list"),
        ('{"domain": "go"}', "'go'"),
    ):
        (tmp_path / "config.json").write_text(content)
        with pytest.raises(CharmError, match=sentence):
            domain_of(tmp_path)


def test_names_and_beginnings_are_taken_once() -> None:
    for changes in ({"name": "arc", "prefix": "x-"}, {"name": "x", "prefix": "car-"}):
        with pytest.raises(CharmError, match="already registered"):
            register(replace(DOMAINS["lm"], **changes))
    assert list(DOMAINS) == ["arc", "car", "lm"]
