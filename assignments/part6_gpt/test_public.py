"""The public suite of part 6: what a student runs while writing."""

import math

import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, raises_value_error, tensor

# Sizes that differ from each other, so that mixing up two of them cannot go unnoticed.
BATCH, T, VOCAB, BLOCK_SIZE, N_LAYERS, N_HEADS, D_MODEL = 3, 5, 11, 8, 2, 4, 24
SIZES = {"vocab_size": VOCAB, "block_size": BLOCK_SIZE, "n_layers": N_LAYERS, "n_heads": N_HEADS, "d_model": D_MODEL}
DOUBLE = torch.float64

# Models of the suite's own, which generate is tested with.
MODELS = """
from types import SimpleNamespace

import torch
from torch import nn


class Table(nn.Module):
    # Row i holds the scores of what follows token i.

    def __init__(self, table, block_size):
        super().__init__()
        self.config = SimpleNamespace(block_size=block_size, vocab_size=table.shape[-1])
        self.table = nn.Parameter(table)

    def forward(self, idx):
        return self.table[idx]


class Ends(nn.Module):
    # The next token is the sum of the oldest and the newest one in the context.

    def __init__(self, vocab_size, block_size):
        super().__init__()
        self.config = SimpleNamespace(block_size=block_size, vocab_size=vocab_size)
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, idx):
        following = (idx[:, :1] + idx) % self.config.vocab_size
        return self.scale * nn.functional.one_hot(following, self.config.vocab_size)
"""


def build(student, **changes):
    """Build a small GPT."""
    return student.GPT(student.GPTConfig(**(SIZES | changes)))


def counted(student, config):
    """Ask for the count and require its seven entries."""
    parts = student.count_parameters(config)
    names = {"token_embeddings", "position_embeddings", "block", "blocks", "final_layernorm", "lm_head", "total"}
    expect(
        isinstance(parts, dict) and names <= set(parts),
        f"count_parameters must return a dict with these keys: {', '.join(sorted(names))}.",
        evidence=parts,
    )
    return parts


def set_weights(model, rng, n_layers, learned):
    """Set every weight of a small GPT and return what was set; the table of positions is called "places"."""
    shapes = {"tok_emb.weight": (VOCAB, D_MODEL), "ln_f.weight": (D_MODEL,), "ln_f.bias": (D_MODEL,)}
    for name in (f"blocks.{index}" for index in range(n_layers)):
        shapes |= {f"{name}.{norm}.{kind}": (D_MODEL,) for norm in ("ln1", "ln2") for kind in ("weight", "bias")}
        shapes |= {f"{name}.attention.{matrix}.weight": (D_MODEL, D_MODEL) for matrix in ("q", "k", "v", "proj")}
        shapes |= {f"{name}.attention.{matrix}.bias": (D_MODEL,) for matrix in ("q", "k", "v", "proj")}
        shapes |= {f"{name}.mlp.up.weight": (4 * D_MODEL, D_MODEL), f"{name}.mlp.up.bias": (4 * D_MODEL,)}
        shapes |= {f"{name}.mlp.down.weight": (D_MODEL, 4 * D_MODEL), f"{name}.mlp.down.bias": (D_MODEL,)}
    weights = rng.like(shapes | {"places": (BLOCK_SIZE, D_MODEL)}, std=0.3, dtype=DOUBLE)
    # Where a learned table of positions is kept is the student's choice: it is what is left.
    left = {name: shape for name, shape in model.shapes.items() if name not in (*shapes, "lm_head.weight")}
    right = [(BLOCK_SIZE, D_MODEL)] if learned else []
    equal(list(left.values()), right, what="the shapes of what is learned beside tokens, blocks, ln_f and lm_head")
    model.load({name: weights[name] for name in shapes} | {name: weights["places"] for name in left})
    return weights


def numbers_of(model):
    """Add up the sizes of a model's parameters; one that is shared counts once."""
    return sum(math.prod(shape) for shape in model.shapes.values())


@check(points=1, exercise="GPTConfig", hint="Which values would run without complaint and be ignored?")
def test_plans_that_cannot_be_built_are_refused(student, rng):
    """An unknown word, or heads that do not divide the width, is a ValueError that names the field and its value."""
    wrongs = [
        ({"positions": "sinusoid"}, ("positions", "sinusoid")),
        ({"norm": "layer"}, ("norm", "layer")),
        ({"n_heads": 5}, (("n_heads", "heads", "d_model"), ("5", "24"))),
    ]
    for change, mentions in wrongs:
        reply = student.GPTConfig.ask((), SIZES | change)  # here, or at the latest when the GPT is built
        because = ", ".join(f"{field} = {value!r}" for field, value in change.items())
        if reply.error is None:
            raises_value_error(student.GPT, reply.value, mentions=mentions, because=because)
        else:
            raises_value_error(student.GPTConfig, **(SIZES | change), mentions=mentions, because=because)


@check(points=3, exercise="count_parameters", hint="Which piece of a block did you forget, or count twice?")
def test_gpt2_small_has_124439808_parameters(student, rng):
    """The default plan is GPT-2 small: 124,439,808 parameters, and each of its parts."""
    parts = counted(student, student.GPTConfig())
    equal(parts["total"], 124_439_808, what="the total of GPT-2 small")
    expected = {
        "token_embeddings": 38_597_376,
        "position_embeddings": 786_432,
        "block": 7_087_872,
        "blocks": 85_054_464,
        "final_layernorm": 1_536,
        "lm_head": 0,
    }
    for name, right in expected.items():
        equal(parts[name], right, what=f"{name} of GPT-2 small")


@check(points=3, exercise="count_parameters", hint="Which entry of the dict depends on which field of the plan?")
def test_published_totals_come_out(student, rng):
    """GPT-2 medium, large and XL, and GPT-2 small without some of its pieces."""
    sizes = {
        "medium": ({"d_model": 1024, "n_layers": 24, "n_heads": 16}, 354_823_168),
        "large": ({"d_model": 1280, "n_layers": 36, "n_heads": 20}, 774_030_080),
        "XL": ({"d_model": 1600, "n_layers": 48, "n_heads": 25}, 1_557_611_200),
        "small without q, k, v biases": ({"qkv_bias": False}, 124_412_160),
        "small with an output layer of its own": ({"tie_weights": False}, 163_037_184),
        "small without norms in its blocks": ({"norm": "none"}, 124_402_944),
        "small with rope": ({"positions": "rope"}, 123_653_376),
    }
    for name, (fields, right) in sizes.items():
        parts = counted(student, student.GPTConfig(**fields))
        equal(parts["total"], right, what=f"the total of GPT-2 {name}")


@check(points=2, exercise="GPT", hint="Compare the parts of your count with the names and shapes in your model.")
def test_built_model_has_as_many_parameters_as_counted(student, rng):
    """What your GPT has built is what your arithmetic says, for four small plans."""
    plans = [
        ({}, 14_952),
        ({"positions": "none", "tie_weights": False}, 15_024),
        ({"norm": "none", "qkv_bias": False, "positions": "alibi"}, 14_424),
        ({"norm": "post", "n_layers": 3, "positions": "sinusoidal"}, 21_984),
    ]
    for changes, right in plans:
        config = student.GPTConfig(**(SIZES | changes))
        shown = ", ".join(f"{field}={value!r}" for field, value in changes.items()) or "learned positions, tied"
        equal(numbers_of(student.GPT(config)), right, what=f"the parameters of the built model ({shown})")
        equal(counted(student, config)["total"], right, what=f"the counted total ({shown})")


@check(points=4, exercise="GPT", hint="Draw the path from idx to the logits: what stands at each of its ends?")
def test_logits_come_from_the_pieces_in_order(student, rng):
    """Tokens plus positions, your own blocks in order, the last LayerNorm, a score for each token at each position."""
    for positions in ("learned", "none"):
        model = build(student, positions=positions, n_layers=3)
        model.to(DOUBLE)
        model.eval()
        weights = set_weights(model, rng, n_layers=3, learned=positions == "learned")
        table, idx = weights["tok_emb.weight"], rng.integers(0, VOCAB, BATCH, T)
        x = F.embedding(idx, table)
        if positions == "learned":
            x = x + weights["places"][:T]
        for index in range(3):  # your own blocks, so that a fault of parts 4 and 5 costs nothing here
            block = model.get(f"blocks.{index}")
            x = tensor(block(x), shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what=f"the output of blocks.{index}")
        x = tensor(model.get("ln_f")(x), shape=(BATCH, T, D_MODEL), dtype=DOUBLE, what="the output of ln_f")
        # float64: the same operations in the same order, whose rounding stays below 1e-12.
        agree(model(idx), x @ table.T, atol=1e-9, what=f"the logits with positions={positions!r}")


@check(
    points=3, exercise="GPT", hint="How large are the scores of a model that knows nothing, and what are its weights?"
)
def test_first_loss_is_ln_v(student, rng):
    """Before any training, every token is about as likely as any other: the loss is ln V, within 5 %."""
    for vocab_size, tie_weights in ((65, True), (400, True), (65, False)):
        model = build(student, vocab_size=vocab_size, block_size=32, d_model=64, tie_weights=tie_weights)
        idx = rng.integers(0, vocab_size, 8, 33)
        logits = tensor(model(idx[:, :-1]), shape=(8, 32, vocab_size), what="the logits")
        loss = F.cross_entropy(logits.flatten(0, 1), idx[:, 1:].flatten()).item()
        # Scores that spread by 0.02 * sqrt(64) = 0.16 raise the loss by about 0.01; 256 targets move it by 0.01 more.
        agree(
            loss, math.log(vocab_size), atol=0.0, rtol=0.05, what=f"the first loss for V = {vocab_size} (ln V is due)"
        )


@check(points=2, exercise="GPT", hint="One tensor under two names, or two tensors with equal numbers?")
def test_output_layer_shares_the_table_of_tokens(student, rng):
    """Tied: new weights in tok_emb are in lm_head at once. Not tied: each has its own. No bias in either case."""
    new = rng.normal(VOCAB, D_MODEL)
    tied, free = build(student), build(student, tie_weights=False)
    for model in (tied, free):
        expect("lm_head.bias" not in model.shapes, "lm_head must have no bias.", evidence=sorted(model.shapes))
    before = tensor(free.get("lm_head.weight"), shape=(VOCAB, D_MODEL), what="lm_head.weight of the untied model")
    for model in (tied, free):
        model.load({"tok_emb.weight": new})
    equal(tied.get("lm_head.weight"), new, what="lm_head.weight of the tied model, after tok_emb.weight was set")
    equal(free.get("lm_head.weight"), before, what="lm_head.weight of the untied model, after tok_emb.weight was set")


@check(points=3, exercise="generate", hint="Which end of the text is the old one, and which end did the cut keep?")
def test_generate_sees_the_last_block_size_tokens(student, rng):
    """The newest block_size tokens are the context, and the prompt stays in front."""
    # The next token is the oldest plus the newest of 4 tokens of context, modulo 11: worked out by hand.
    model = student.probe(MODELS, "Ends", vocab_size=11, block_size=4)
    prompt = torch.tensor([[1, 2, 3, 5, 8, 2], [0, 9, 4, 4, 7, 1]])
    right = torch.tensor([[1, 2, 3, 5, 8, 2, 5, 10, 7, 9], [0, 9, 4, 4, 7, 1, 5, 9, 5, 6]])
    equal(student.generate(model, prompt, 4, temperature=0), right, what="the prompt and four tokens")
    # A prompt that is shorter than the context grows into it: 3; 3 + 3; 3 + 6; 3 + 9; then 3 is forgotten.
    right = torch.tensor([[3, 6, 9, 1, 4, 10, 8]])
    equal(student.generate(model, torch.tensor([[3]]), 6, temperature=0.0), right, what="a prompt of one token")


@check(
    points=3, exercise="generate", hint="What do you divide by the temperature, and what happens to the dropped scores?"
)
def test_generate_draws_in_the_right_proportions(student, rng):
    """Sixteen thousand draws from chances of 4, 3, 2 and 1 in ten, with temperatures and top_k."""
    chances = torch.tensor([0.4, 0.3, 0.2, 0.1])
    model = student.probe(MODELS, "Table", chances.log().expand(4, 4).contiguous(), block_size=8)
    cases = [
        ({}, [0.4, 0.3, 0.2, 0.1]),
        ({"temperature": 0.25}, [256 / 354, 81 / 354, 16 / 354, 1 / 354]),  # fourth powers of the chances, shared anew
        ({"top_k": 2}, [4 / 7, 3 / 7, 0.0, 0.0]),
        ({"temperature": 0.5, "top_k": 3}, [16 / 29, 9 / 29, 4 / 29, 0.0]),
    ]
    n_draws = 16_000
    prompts = torch.zeros(n_draws, 1, dtype=torch.long)
    for arguments, right in cases:
        shown = ", ".join(f"{name}={value}" for name, value in arguments.items()) or "temperature=1.0"
        text = student.generate(model, prompts, 1, **arguments, generator=rng.generator())
        text = tensor(text, shape=(n_draws, 2), dtype=torch.long, what=f"the text ({shown})")
        expect(text.min() >= 0 and text.max() < 4, "Every token must be one of the model's four.", evidence=text[:20])
        frequencies = text[:, 1].bincount(minlength=4) / n_draws
        # A frequency's standard deviation is at most 0.5 / sqrt(16,000) = 0.004: five of them are left to chance.
        agree(frequencies, torch.tensor(right), atol=0.02, what=f"the frequencies of the four tokens ({shown})")


@check(points=1, exercise="attention_matrix_bytes", hint="How many pairs of positions are there, and for whom?")
def test_eight_heads_at_16384_tokens_are_8_gib(student, rng):
    """One score for each pair of positions in each head: 8 GiB for 8 heads at 16,384 tokens in float32."""
    equal(student.attention_matrix_bytes(16_384, 8), 8 * 2**30, what="the bytes at 16,384 tokens")
    equal(student.attention_matrix_bytes(1_024, 8), 32 * 2**20, what="the bytes at 1,024 tokens")


@check(
    points=2,
    exercise="flops_per_token",
    hint="Which two products have no weights, and which table is used but not owned?",
)
def test_gpt2_small_takes_284812800_operations_per_token(student, rng):
    """GPT-2 small: 284,812,800 operations for each token; medium: 807,569,408."""
    free = student.GPTConfig(tie_weights=False)
    equal(student.flops_per_token(free), 284_812_800, what="the operations per token of GPT-2 small, not tied")
    equal(student.flops_per_token(student.GPTConfig()), 284_812_800, what="the operations per token of GPT-2 small")
    medium = student.GPTConfig(d_model=1024, n_layers=24, n_heads=16)
    equal(student.flops_per_token(medium), 807_569_408, what="the operations per token of GPT-2 medium")
