"""grading.yml: what it may say, and what a teacher is told about each slip."""

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.config import Config, load_config
from autograder.errors import ConfigError
from autograder.records import Limits

REPOSITORY = Path(__file__).resolve().parents[2]

FULL = """\
version: 1
title: Autumn
submissions: inbox
results: out
seed: 7
parts:
  part1: {weight: 2}
  part3: {weight: 0.5}
limits: {check_s: 2.5, memory_mib: 512, file_mib: 4, open_files: 32, output_kib: 16}
bands:
  part7: {block: [6, 6.9], mean: [20.0, 23.5]}
feedback:
  hidden_checks: [title, hint]
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "grading.yml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_config_reads_every_setting(write, tmp_path):
    config = load_config(write(FULL))
    assert config == Config(
        path=tmp_path / "grading.yml",
        title="Autumn",
        submissions=tmp_path / "inbox",
        results=tmp_path / "out",
        seed=7,
        weights={"part1": 2.0, "part3": 0.5},
        limits=Limits(check_s=2.5, memory_mib=512, file_mib=4, open_files=32, output_kib=16),
        bands={"part7": {"block": (6.0, 6.9), "mean": (20.0, 23.5)}},
        hidden_checks=("title", "hint"),
    )
    assert [config.weight(name) for name in ("part1", "part2", "part3")] == [2.0, 1.0, 0.5]


def test_config_needs_only_a_version(write, tmp_path):
    config = load_config(write("version: 1\n"))
    assert config.limits == Limits()
    assert config.weight("part9") == 1.0
    assert config.submissions == tmp_path / "submissions"
    assert config.hidden_checks == ("title", "score", "diagnosis")


def test_config_takes_a_heading_without_lines_for_an_absent_one(write):
    assert load_config(write("version: 1\nlimits:\n  # check_s: 5\nparts:\n")).limits == Limits()


def test_config_reads_windows_text_with_a_byte_order_mark(write):
    assert load_config(write(b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode())).seed == 7


def test_config_of_this_repository_is_valid():
    config = load_config(REPOSITORY / "grading.yml", parts=[f"part{number}" for number in range(1, 10)])
    assert config.seed == 20261129
    assert config.submissions == REPOSITORY / "examples/submissions"
    assert {config.weight(f"part{number}") for number in range(1, 10)} == {1.0}


SLIPS = [
    ("", "grading.yml: expected 'name: value' lines, found nothing"),
    ("- a\n", "grading.yml: expected 'name: value' lines, found [\"a\"]"),
    ("title: x\n", "grading.yml: version is missing, expected a whole number of at least 1"),
    ("version: one\n", 'grading.yml: version: expected a whole number of at least 1, found "one"'),
    ("version: true\n", "found true"),
    (
        "version: 2\nnovelty: 1\n",
        "grading.yml: version: written for a newer gpt-hw (format 2; this one reads format 1)",
    ),
    ("version: 0\n", "grading.yml: version: expected a whole number of at least 1, found 0"),
    ("version: 1\nlimit: {}\n", "grading.yml: limit: there is no such setting here\nDid you mean 'limits'?"),
    ("version: 1\n3: {}\n", "grading.yml: 3: there is no such setting here"),
    ("version: 1\nlimits: {check_s: ten}\n", 'grading.yml: limits.check_s: expected a number above 0, found "ten"'),
    ("version: 1\nlimits: {check_s: 0}\n", "limits.check_s: expected a number above 0, found 0"),
    ("version: 1\nlimits: {check_s: .nan}\n", "limits.check_s: expected a number above 0, found NaN"),
    ("version: 1\nlimits: {check_s: .inf}\n", "limits.check_s: expected a number above 0, found Infinity"),
    ("version: 1\nlimits: {check_s: 1000000}\n", "expected a number above 0 and at most 86400, found 1000000"),
    ("version: 1\nlimits: {check_s: yes}\n", "limits.check_s: expected a number above 0, found true"),
    ("version: 1\nlimits: {check_s: null}\n", "limits.check_s: expected a number above 0, found null"),
    ("version: 1\nlimits: {memory_mib: 1.5}\n", "limits.memory_mib: expected a whole number of at least 64, found 1.5"),
    ("version: 1\nlimits: {memory_mib: 3}\n", "limits.memory_mib: expected a whole number of at least 64, found 3"),
    ("version: 1\nlimits: {chek_s: 3}\n", "limits.chek_s: there is no such setting here\nDid you mean 'check_s'?"),
    ("version: 1\nlimits: 10\n", "grading.yml: limits: expected indented 'name: value' lines, found 10"),
    ("version: 1\nseed: -1\n", "grading.yml: seed: expected a whole number of at least 0, found -1"),
    (f"version: 1\nseed: {2**63}\n", "at most 9223372036854775807, found 9223372036854775808"),
    (f"version: 1\nseed: 0x{'f' * 9000}\n", "grading.yml: seed: expected a whole number"),
    (f"version: 1\nseed: {'9' * 9000}\n", "holds a value that YAML cannot read"),
    ("version: 1\nparts: {part1: {weight: -1}}\n", "parts.part1.weight: expected a number of at least 0, found -1"),
    ("version: 1\nparts: {part1: {wieght: 1}}\n", "parts.part1.wieght: there is no such setting here"),
    ("version: 1\nparts: {part1: 2}\n", "parts.part1: expected indented 'name: value' lines, found 2"),
    ("version: 1\nparts: {attention: {weight: 1}}\n", "parts.attention: expected the name of a part"),
    ("version: 1\ntitle: ' '\n", 'grading.yml: title: expected some text, found " "'),
    ("version: 1\ntitle: 2026-11-29\n", 'title: expected some text, found "2026-11-29"'),
    ("version: 1\nresults: .\n", "results: expected a folder of its own"),
    ("version: 1\nsubmissions: s\nresults: s/out\n", "results: expected a folder of its own"),
    ("version: 1\nfeedback: {hidden_checks: titel}\n", 'hidden_checks: expected a list of texts, found "titel"'),
    ("version: 1\nfeedback: {hidden_checks: [titel]}\n", "called \"titel\"\nDid you mean 'title'?"),
    (
        "version: 1\nseed: 1\nseed: 2\n",
        "grading.yml, line 3, column 1: not valid YAML: 'seed' is already said in line 2",
    ),
    ("version: 1\ntitle: [a\nseed: 1\n", "grading.yml, line 3, column"),
    ("version: 1\ntitle: a: b\n", "grading.yml, line 2, column 9: not valid YAML"),
    ("version: 1\n\tseed: 1\n", "grading.yml, line 2, column 1"),
    ("version: 1\n? [a]\n: b\n", "not valid YAML"),
    ("version: 1\n--- \nversion: 1\n", "not valid YAML"),
    ("version: &v 1\nseed: *v\n", "grading.yml, line 2, column 7: not valid YAML: aliases (*name) are not used"),
    ("version: 1\nparts: &p {part1: *p}\n", "aliases (*name) are not used"),
    ("version: 1\ntitle: !!python/object/apply:os.system [ls]\n", "not valid YAML: could not determine a constructor"),
    ("version: 1\ntitle: !!int x\n", "holds a value that YAML cannot read"),
    ("version: 1\ntitle: !!timestamp x\n", "holds a value that YAML cannot read"),
    ("version: 1\nseed: 2026-13-45\n", "holds a value that YAML cannot read"),
    ("version: 1\ntitle: \x07\n", "grading.yml: not valid YAML"),
    (f"version: 1\ntitle: {'[' * 5000}\n", "grading.yml: holds a value that YAML cannot read"),
    (b"version: 1\ntitle: \xff\n", "grading.yml: line 2 is not UTF-8 text"),
    ("version: 1\n" + "# policy\n" * 9000, "grading.yml: larger than 64 KiB"),
]


@pytest.mark.parametrize(("text", "said"), SLIPS, ids=range(len(SLIPS)))
def test_config_refuses_a_slip_and_says_where(write, text, said):
    with pytest.raises(ConfigError) as caught:
        load_config(write(text))
    assert said in str(caught.value)
    assert caught.value.remedy
    assert len(caught.value.message) < 250


def test_config_names_the_line_of_a_wrong_value(write):
    path = write("version: 1\nlimits:\n  open_files: 64\n  check_s: ten\n")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert caught.value.remedy == f"Mend that value. See line 4 of {path}."


def test_config_refuses_the_weight_of_a_part_that_the_course_lacks(write):
    path = write("version: 1\nparts: {part4: {weight: 1}}\n")
    assert load_config(path).weight("part4") == 1.0
    with pytest.raises(ConfigError, match=r"parts\.part4: the course has no such part"):
        load_config(path, parts=["part1", "part2"])


def test_config_says_when_there_is_no_file(tmp_path):
    with pytest.raises(ConfigError, match=r"grading\.yml: there is no such file"):
        load_config(tmp_path / "grading.yml")


def test_config_says_when_the_file_is_a_folder(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)


def digest(write, text: str) -> str:
    return load_config(write(f"version: 1\n{text}")).sha256


@pytest.mark.parametrize(
    "text",
    [
        "seed: 1",
        "parts: {part1: {weight: 2}}",
        "parts: {part2: {weight: 2}}",
        "limits: {check_s: 11}",
        "limits: {memory_mib: 999}",
        "limits: {file_mib: 9}",
        "limits: {open_files: 65}",
        "limits: {output_kib: 65}",
    ],
)
def test_config_digest_changes_with_what_changes_scores(write, text):
    assert digest(write, text) != digest(write, "")


@pytest.mark.parametrize(
    "text",
    [
        "title: other",
        "submissions: elsewhere",
        "feedback: {hidden_checks: [title]}",
        "seed: 0  # said",
        "limits: {check_s: 10.0}",
        "parts: {part1: {weight: 1}}",
    ],
)
def test_config_digest_stays_where_no_score_can_change(write, text):
    assert digest(write, text) == digest(write, "")


def test_config_and_parts_import_neither_yaml_nor_anything_heavy():
    program = "import sys, autograder.config, autograder.parts; print({'yaml', 'pydantic', 'torch'} & set(sys.modules))"
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert printed.stdout.strip() == "set()"


@pytest.mark.parametrize("band", ["6.9", "[6.0]", "[6.9, 6.0]", "[6.0, .inf]", "[true, 2]", "[a, b]", "[1, 2, 3]"])
def test_a_band_is_two_numbers_the_lower_one_first(write, band):
    with pytest.raises(ConfigError, match=r"bands\.part7\.block: expected two numbers"):
        load_config(write(f"version: 1\nbands: {{part7: {{block: {band}}}}}\n"))


def test_a_band_of_an_unknown_part_is_refused_with_the_closest_name(write):
    with pytest.raises(ConfigError, match=r"bands\.part77") as caught:
        load_config(write("version: 1\nbands: {part77: {block: [1, 2]}}\n"), parts=["part7"])
    assert "part7" in caught.value.remedy


def test_a_moved_band_is_a_different_policy(write):
    bands = "version: 1\nbands: {part7: {block: [1, %s]}}\n"
    assert load_config(write(bands % 2)).sha256 != load_config(write(bands % 3)).sha256
