"""--device: what computes elsewhere draws the same numbers, mixes nothing up, and goes on on any other device.

No machine of ours has a card, so most of this runs on a device that is played: tensors that say "cuda", compute on the
processor, and refuse, as a card does, to meet a tensor that was not sent there.
"""

import json
from pathlib import Path

import pytest
import test_labs_circuits
import test_labs_training
import torch
from played_card import Card
from tiny_training import tiny_settings
from torch import nn
from torch.nn import functional as F
from torch.utils._pytree import tree_flatten

from autograder import cli
from autograder.cli.labs import read_work
from autograder.errors import UsageError
from autograder.labs import Settings, StudentCodeError, Work, all_labs, checkpoint, device, find_lab, run_lab
from autograder.labs.device import device_of, find_device, living_on
from autograder.labs.lm import sample, train

ROOT = Path(__file__).resolve().parents[2]
STEPS, STOPPED_AT = 12, 5
ON_DEVICE = [lab.name for lab in all_labs().values() if lab.on_device]
NO_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no CUDA device on this machine")

# --- a device that is played


@pytest.fixture
def card(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda *which: "a card that is played")
    monkeypatch.setattr(nn.Module, "to", Card.move_module)
    with Card() as playing:
        yield playing


def test_the_played_card_refuses_what_a_card_refuses(card):
    here, there = torch.ones(3), torch.ones(3).to("cuda")
    assert (here.device.type, there.device.type, (there * 2).device.type) == ("cpu", "cuda", "cuda")
    with pytest.raises(RuntimeError, match="same device"):
        here + there
    with pytest.raises(TypeError, match="numpy"):
        there.numpy()
    with pytest.raises(RuntimeError, match="generator"):
        torch.multinomial(there, 1, generator=torch.Generator())
    layer = nn.Linear(3, 2)
    layer.to("cuda")
    with pytest.raises(RuntimeError, match="same device"):
        layer(here)
    layer(there).sum().backward()
    assert layer.weight.grad.device.type == "cuda"
    layer.to("cpu")
    assert layer(here).device.type == "cpu"


# --- which device


@pytest.mark.parametrize(
    ("there", "word", "found"),
    [
        ((), "auto", "cpu"),
        (("cuda",), "auto", "cuda"),
        (("mps",), "auto", "mps"),
        (("cuda", "mps"), "auto", "cuda"),
        (("cuda", "mps"), "mps", "mps"),
        (("cuda", "mps"), "cpu", "cpu"),
    ],
)
def test_auto_takes_the_best_and_a_name_what_it_names(there, word, found, monkeypatch):
    monkeypatch.setattr(device, "accelerators", lambda: there)
    assert find_device(word) == found


@pytest.mark.parametrize("word", ["cuda", "mps"])
def test_what_is_not_there_is_told_with_a_way_on(word, monkeypatch):
    monkeypatch.setattr(device, "accelerators", lambda: ())
    with pytest.raises(UsageError, match="torch finds no") as error:
        find_device(word)
    assert "--device cpu" in error.value.remedy


def test_a_device_of_no_name_is_told():
    with pytest.raises(UsageError, match="not one of auto, cpu, cuda, mps") as error:
        find_device("cudda")
    assert "cuda" in error.value.remedy


# --- a model there, its surroundings here


def test_a_model_takes_ids_from_anywhere_and_gives_scores_back_there(card):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 7))
    ids = torch.arange(6).reshape(2, 3)
    before = model(ids)
    with living_on(model, "cuda"):
        assert device_of(model).type == "cuda"
        assert model(ids).device.type == "cpu"
        assert model(input=ids).device.type == "cpu"
        assert model(ids.to("cuda")).device.type == "cuda"
        assert torch.equal(model(ids), before)
        F.cross_entropy(model(ids).flatten(0, 1), ids.flatten()).backward()
        assert all(one.grad.device.type == "cuda" for one in model.parameters())
    assert device_of(model).type == "cpu"
    assert torch.equal(model(ids), before)


def test_a_model_comes_back_when_a_training_is_stopped(card):
    model = nn.Sequential(nn.Linear(2, 2))
    with pytest.raises(KeyboardInterrupt), living_on(model, "cuda"):
        raise KeyboardInterrupt
    assert device_of(model).type == "cpu"
    assert "forward" not in vars(model)


# --- gpt-hw train, gpt-hw sample


@pytest.fixture(scope="module")
def work():
    return read_work(ROOT, solutions=True)


@pytest.fixture
def tiny(tmp_path):
    return tiny_settings(tmp_path)


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", "rope", "alibi"])
def test_a_training_there_is_the_one_here(kind, work, tiny, tmp_path, card):
    here = train(work, tiny(positions=kind), STEPS, tmp_path / "here", device="cpu")
    before = card.calls
    there = train(work, tiny(positions=kind), STEPS, tmp_path / "there", device="cuda")
    assert card.calls > before
    assert there.losses == pytest.approx(here.losses, abs=1e-6)  # the same arithmetic, played
    assert there.evaluations[-1][1] == pytest.approx(here.evaluations[-1][1], rel=1e-6)
    settings = {"prompt": "the", "tokens": 20, "temperature": 0.9, "top_k": 5, "seed": 3}
    said = [sample(work, tmp_path / "there", device=word, **settings) for word in ("cpu", "cuda")]
    assert said[0] == said[1]


@pytest.mark.parametrize(("first", "then"), [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")])
def test_a_training_goes_on_on_another_device(first, then, work, tiny, tmp_path, card):
    straight = train(work, tiny(), STEPS, tmp_path / "straight", device="cpu")
    train(work, tiny(), STOPPED_AT, tmp_path / "broken", device=first)
    gone_on = train(work, tiny(), STEPS, tmp_path / "broken", device=then)
    assert gone_on.began_at == STOPPED_AT
    assert gone_on.losses == pytest.approx(straight.losses, abs=1e-6)
    one, other = (checkpoint.load(tmp_path / name / "checkpoint.safetensors")[0] for name in ("straight", "broken"))
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], atol=1e-6, rtol=0)


def test_a_slip_that_only_a_card_shows_is_told_with_a_way_on(work, tiny, tmp_path, card):
    sources = dict(work.sources)
    sources["part6_gpt"] += (
        "\n\nclass GPT(GPT):\n    def forward(self, idx):\n"
        "        return super().forward(idx) + torch.zeros(idx.shape[1])[:, None]\n"
    )
    slipped = Work(sources)
    train(slipped, tiny(), 1, tmp_path / "here", device="cpu")
    with pytest.raises(StudentCodeError, match="same device") as error:
        train(slipped, tiny(), 1, tmp_path / "there", device="cuda")
    assert "torch.zeros(idx.shape[1])" in error.value.message
    assert "--device cpu" in error.value.message


def test_the_processor_by_name_is_what_auto_finds_without_a_card(work, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(device, "accelerators", lambda: ())
    by_name = train(work, tiny(), STEPS, tmp_path / "by_name", device="cpu")
    found = train(work, tiny(), STEPS, tmp_path / "found", device="auto")
    assert by_name.losses == found.losses
    assert by_name.evaluations == found.evaluations


def test_the_numpy_engine_knows_the_processor_alone(work, tiny, tmp_path):
    settings = tiny(engine="numpy")
    with pytest.raises(UsageError, match="the numpy engine computes on the processor alone, not on cuda"):
        train(work, settings, 2, tmp_path / "out", device="cuda")
    train(work, settings, 2, tmp_path / "out", device="auto")
    with pytest.raises(UsageError, match="the numpy engine"):
        sample(work, tmp_path / "out", tokens=2, device="mps")
    assert sample(work, tmp_path / "out", prompt="the", tokens=2, device="cpu").startswith("the")


@pytest.mark.parametrize(
    "words", [["train", "text.txt", "--steps", "2"], ["sample"], ["lab", "ladder", "--out", "somewhere"]]
)
def test_the_commands_refuse_a_device_that_is_not_there(words, work, tiny, tmp_path, monkeypatch):
    for name, text in work.sources.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(device, "accelerators", lambda: ())
    monkeypatch.chdir(tmp_path)
    train(work, tiny(), 1, tmp_path / "model")
    with pytest.raises(UsageError, match="no NVIDIA GPU") as error:
        cli.app([*words, "--device", "cuda"], standalone_mode=False)
    assert "--device cpu" in error.value.remedy


# --- gpt-hw lab

# These touch a model's pieces, or a table of numbers, while it is there; the others only train.
LOOK_INSIDE = ("scale", "leak", "induction", "positions")
tiny_training = test_labs_training.tiny
tiny_circuits = test_labs_circuits.tiny


def test_the_labs_that_train_with_torch_take_a_device():
    assert set(ON_DEVICE) == {*test_labs_training.LABS, "norms", "positions", "referent", "induction"}


@pytest.mark.parametrize(
    "name", [name if name in LOOK_INSIDE else pytest.param(name, marks=pytest.mark.slow) for name in ON_DEVICE]
)
def test_a_lab_there_finds_what_it_finds_here(name, work, tiny_training, tiny_circuits, tmp_path, card):
    here, _ = run_lab(find_lab(name), work, Settings(tmp_path, device="cpu"))
    before = card.calls
    there, about = run_lab(find_lab(name), work, Settings(tmp_path, device="cuda"))
    assert card.calls > before
    assert about["machine"]["device"] == "cuda (a card that is played)"
    assert about["reused"] == 0  # figures of one device are not those of another
    kept = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("measurements/*.json"))]
    by_settings = {}
    for one in kept:
        by_settings.setdefault(json.dumps([one["of"], one["settings"]]), []).append(without_seconds(one["value"]))
    assert all(len(pair) == 2 for pair in by_settings.values())
    for one, other in by_settings.values():
        assert numbers_of(one) == pytest.approx(numbers_of(other), abs=1e-4, nan_ok=True)
    assert [one.claim for one in here.findings] == [one.claim for one in there.findings]


def without_seconds(value):
    return {key: each for key, each in value.items() if key != "seconds"} if isinstance(value, dict) else value


def numbers_of(value):
    return [one for one in tree_flatten(value)[0] if isinstance(one, int | float)]


@pytest.mark.parametrize("name", ["averages", "quadratic", "engine_heads"])
def test_a_lab_that_trains_nothing_on_a_card_says_so(name, work, tmp_path):
    with pytest.raises(UsageError, match=f"the lab {name} computes on the processor alone, not on cuda"):
        run_lab(find_lab(name), work, Settings(tmp_path, device="cuda"))


# --- a real card, where there is one


@NO_CUDA
def test_a_training_on_cuda_is_near_the_one_here_and_goes_on_here(work, tiny, tmp_path):
    here = train(work, tiny(), STEPS, tmp_path / "here", device="cpu")
    there = train(work, tiny(), STEPS, tmp_path / "there", device="cuda")
    assert there.losses == pytest.approx(here.losses, abs=1e-3)  # other kernels round otherwise
    more = train(work, tiny(), STEPS + 2, tmp_path / "there", device="cpu")
    assert (more.began_at, len(more.losses)) == (STEPS, STEPS + 2)


@NO_CUDA
@pytest.mark.parametrize("name", ["scale", "leak", "induction"])
def test_a_lab_runs_on_cuda(name, work, tiny_training, tiny_circuits, tmp_path):
    report, about = run_lab(find_lab(name), work, Settings(tmp_path, device="cuda"))
    assert report.findings
    assert about["machine"]["device"].startswith("cuda (")
