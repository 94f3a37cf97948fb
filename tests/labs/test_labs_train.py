"""Training that is stopped and goes on gives exactly what an unbroken one gives, and everything else is told."""

import json
from pathlib import Path

import pytest
import torch
from tiny_training import TEXT, tiny_settings

from autograder import cli
from autograder.cli.labs import read_work
from autograder.errors import UsageError
from autograder.labs import Lab, StudentCodeError, Work, checkpoint
from autograder.labs.bench import Bench
from autograder.labs.data import Data
from autograder.labs.lm import sample, train
from autograder.labs.lm.corpus import LANGUAGES, open_corpus
from autograder.labs.lm.journal import Journal, Stopped
from autograder.labs.meter import Meter
from autograder.labs.training import fit

ROOT = Path(__file__).resolve().parents[2]
STEPS = 20
STOPPED_AT = 4
# What part 7's contract asks for, as long as there is no part 7.
STAND_IN = """
import math
import torch
from torch.nn import functional as F


def get_batch(tokens, batch_size, block_size, generator=None):
    begins = torch.randint(len(tokens) - block_size, (batch_size,), generator=generator)
    rows = torch.stack([tokens[b : b + block_size + 1] for b in begins.tolist()])
    return rows[:, :-1], rows[:, 1:]


@torch.no_grad()
def perplexity(model, tokens, block_size, batch_size=64):
    was = model.training
    model.eval()
    total = 0.0
    for begin in range(0, len(tokens) - 1, block_size):
        x, y = tokens[begin : begin + block_size][None], tokens[begin + 1 : begin + block_size + 1][None]
        x = x[:, : y.shape[1]]
        total += F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum").item()
    model.train(was)
    return math.exp(total / (len(tokens) - 1))


def warmup_lr(step, max_lr, warmup_steps):
    return max_lr * min(1, (step + 1) / warmup_steps) if warmup_steps else max_lr


def train(model, tokens, steps, batch_size, block_size, lr, warmup_steps=0, generator=None, on_step=None):
    was = model.training
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr)
    losses = []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = warmup_lr(step, lr, warmup_steps)
        x, y = get_batch(tokens, batch_size, block_size, generator)
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if on_step is not None:
            on_step(step, losses[-1])
    model.train(was)
    return losses
"""


@pytest.fixture(scope="module")
def work():
    found = read_work(ROOT, solutions=True)
    found.sources.setdefault("part7_training", STAND_IN)
    return found


@pytest.fixture
def tiny(tmp_path):
    return tiny_settings(tmp_path)


@pytest.fixture
def stop_at(monkeypatch):
    """Press Ctrl-C during one step."""

    def arrange(step: int) -> None:
        after_step = Journal.after_step

        def interrupted(self, loss):
            self._stop = len(self.losses) + 1 == step
            after_step(self, loss)

        monkeypatch.setattr(Journal, "after_step", interrupted)

    return arrange


@pytest.mark.parametrize("engine", ["torch", "numpy"])
def test_stopped_and_gone_on_is_as_if_never_stopped(engine, work, tiny, tmp_path, stop_at):
    straight = train(work, tiny(engine=engine), STEPS, tmp_path / "straight")
    stop_at(STOPPED_AT)
    with pytest.raises(Stopped):
        train(work, tiny(engine=engine), STEPS, tmp_path / "broken")
    torch.rand(3)  # what happens in between must not matter
    resumed = train(work, tiny(engine=engine), STEPS, tmp_path / "broken")
    assert resumed.began_at == STOPPED_AT
    assert resumed.losses == straight.losses
    assert len(straight.evaluations) == 2
    assert resumed.evaluations == straight.evaluations
    one, other = (checkpoint.load(tmp_path / name / "checkpoint.safetensors")[0] for name in ("straight", "broken"))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("engine", ["torch", "numpy"])
def test_training_learns_and_more_steps_go_on(engine, work, tiny, tmp_path):
    first = train(work, tiny(engine=engine, lr=0.03), 30, tmp_path / "out")
    assert first.losses[-1] < first.losses[0] - 0.5
    more = train(work, tiny(engine=engine, lr=0.03), 32, tmp_path / "out")
    assert (more.began_at, len(more.losses)) == (30, 32)
    assert train(work, tiny(engine=engine, lr=0.03), 32, tmp_path / "out").began_at == 32
    written = sample(work, tmp_path / "out", prompt="the", tokens=20, temperature=0)
    assert written.startswith("the")
    assert len(written) == 23
    assert sample(work, tmp_path / "out", prompt="the", tokens=20, temperature=0, seed=9) == written


def test_files_are_whole_and_hold_no_pickle(work, tiny, tmp_path):
    done = train(work, tiny(), 2, tmp_path / "out")
    assert [path.name for path in done.files] == ["checkpoint.safetensors", "checkpoint.json", "loss.png"]
    header = done.files[0].read_bytes()
    assert json.loads(header[8 : 8 + int.from_bytes(header[:8], "little")])["__metadata__"]["gpt-hw"]
    assert json.loads(done.files[1].read_text())["settings"]["embed"] == 8


def test_other_settings_are_refused_by_name_and_fresh_begins_anew(work, tiny, tmp_path):
    train(work, tiny(), 2, tmp_path / "out")
    with pytest.raises(UsageError, match="--heads 2") as error:
        train(work, tiny(heads=4), 2, tmp_path / "out")
    assert "--fresh" in error.value.remedy
    assert train(work, tiny(heads=4), 2, tmp_path / "out", fresh=True).began_at == 0


def test_another_text_under_the_same_name_is_refused(work, tiny, tmp_path):
    train(work, tiny(), 2, tmp_path / "out")
    (tmp_path / "text.txt").write_text(TEXT[::-1])
    with pytest.raises(UsageError, match="another text"):
        train(work, tiny(), 4, tmp_path / "out")


def test_what_is_no_checkpoint_is_told(work, tiny, tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"nonsense")
    with pytest.raises(UsageError, match="not a checkpoint of ours"):
        train(work, tiny(), 2, tmp_path)
    with pytest.raises(UsageError, match="there is no checkpoint"):
        sample(work, tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heads": 3}, "--heads 3 does not divide --embed 8"),
        ({"context": 500}, "too few for --context 500"),
        ({"engine": "numpy", "positions": "rope"}, "no --positions rope"),
        ({"corpus": "skip-inducton"}, "there is no file skip-inducton"),
        ({"lr": 1e30}, "the loss of step"),
    ],
)
def test_settings_that_cannot_be_are_told(work, tiny, tmp_path, changes, words):
    with pytest.raises(UsageError) as error:
        train(work, tiny(**changes), 20, tmp_path / "out")
    assert words in error.value.message
    assert error.value.remedy


def test_a_prompt_with_unknown_characters_is_told(work, tiny, tmp_path):
    train(work, tiny(), 1, tmp_path / "out")
    with pytest.raises(UsageError, match="'Z' does not occur"):
        sample(work, tmp_path / "out", prompt="Z")


def test_a_train_that_does_not_report_its_steps_is_the_students(work, tiny, tmp_path):
    sources = {name: text for name, text in work.sources.items() if not name.startswith("part7")}
    sources["part7_training"] = "def train(*args, **kwargs):\n    return []\n"
    with pytest.raises(StudentCodeError, match="did not call on_step"):
        train(Work(sources), tiny(), 2, tmp_path / "out")


def test_a_model_that_changed_does_not_go_on(work, tiny, tmp_path):
    train(work, tiny(), 1, tmp_path / "out")
    sources = dict(work.sources)
    sources["part6_gpt"] += "\n\nclass GPT(GPT):\n    def __init__(self, config):\n        super().__init__(config)\n"
    sources["part6_gpt"] += "        self.more = nn.Linear(2, 2)\n"
    with pytest.raises(UsageError, match="does not fit your model"):
        train(Work(sources), tiny(), 2, tmp_path / "out")


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_language_reads_and_writes(name):
    corpus = open_corpus(name)
    ids = corpus.train[:20].tolist()
    assert corpus.codec.encode(corpus.codec.decode(ids)) == ids
    assert len(corpus.held_out) > 500
    assert corpus.train.max() < len(corpus.codec.pieces)


def test_a_labs_training_goes_on_exactly(tmp_path, monkeypatch):
    monkeypatch.setattr("autograder.labs.training._SAVE_EVERY_S", 0.0)
    data = Data("toy", 11, torch.arange(400) % 11, torch.arange(100) % 11)
    path = tmp_path / "toy.py"
    path.write_text("")
    lab = Lab("toy", "A toy.", ("part1",), path)

    def trained(bench, stop, seed):
        def on_step(step, loss):
            if bench.stops and step == stop:
                raise KeyboardInterrupt

        model = torch.nn.Sequential(torch.nn.Embedding(11, 6), torch.nn.Dropout(0.1), torch.nn.Linear(6, 11))
        settings = {"steps": 12, "batch_size": 2, "block_size": 5, "lr": 0.01, "warmup_steps": 9, "late": 0.5}
        losses = fit(bench, model, data, **settings, seed=seed, on_step=on_step)
        return [losses, [parameter.tolist() for parameter in model.parameters()]]

    def bench(stops, folder):
        made = Bench(
            lab,
            Work({"part1_toy": ""}),
            tmp_path / folder,
            full=False,
            seed=0,
            data=None,
            meter=Meter(None, "toy"),
        )
        made.stops = stops
        return made

    straight = bench(False, "straight").measure(trained, [{"stop": 6}])
    with pytest.raises(KeyboardInterrupt):
        bench(True, "broken").measure(trained, [{"stop": 6}])
    assert list((tmp_path / "broken").glob("*.partial"))
    assert bench(False, "broken").measure(trained, [{"stop": 6}]) == straight
    assert not list((tmp_path / "broken").glob("*.partial"))


def test_the_commands_train_stop_go_on_and_sample(work, tmp_path, monkeypatch, capsys, stop_at):
    for name, text in work.sources.items():
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "text.txt").write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    words = ["train", "text.txt", "--steps", "6", "--heads", "2", "--embed", "8", "--context", "8", "--blocks", "1"]
    stop_at(2)
    assert cli.app(words, standalone_mode=False) == 130
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert "kept in model; the same command goes on" in capsys.readouterr().err
    cli.app(words, standalone_mode=False)
    told = capsys.readouterr().out
    assert "went on from step 2" in told
    assert "step 6: held-out perplexity" in told
    cli.app(["sample", "--prompt", "the", "--tokens", "5"], standalone_mode=False)
    assert capsys.readouterr().out.startswith("the")


def test_the_command_refuses_an_unknown_variant(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="'ropes' is not one of") as error:
        cli.app(["train", "--positions", "ropes"], standalone_mode=False)
    assert error.value.remedy == "Did you mean 'rope'?"
