"""The hidden suite of part 6: every variant in float64, the first weights by their statistics, writing at its edges."""

import math

import torch
from torch.nn import functional as F

from autograder.checks import agree, check, equal, expect, raises_value_error, tensor

BATCH, T, VOCAB, BLOCK_SIZE, N_LAYERS, N_HEADS, D_MODEL = 3, 5, 11, 8, 2, 4, 24
SIZES = {"vocab_size": VOCAB, "block_size": BLOCK_SIZE, "n_layers": N_LAYERS, "n_heads": N_HEADS, "d_model": D_MODEL}
POSITIONS, NORMS = ("learned", "none", "sinusoidal", "rope", "alibi"), ("pre", "post", "none")
MATRICES = ("q", "k", "v", "proj")
SIGMAS = 5  # what chance may do: one in two million for each number that is compared
DOUBLE, LONG = torch.float64, torch.long

# Models of the suite's own, which generate is tested with, and two things to do with a student's model.
MODELS = """
from types import SimpleNamespace

import torch
from torch import nn


class Table(nn.Module):
    # Row i holds the scores of what follows token i. Remembers how it was called.

    def __init__(self, table, block_size):
        super().__init__()
        self.config = SimpleNamespace(block_size=block_size, vocab_size=table.shape[-1])
        self.table = nn.Parameter(table)
        self.modes, self.graphs, self.lengths = [], [], []

    def forward(self, idx):
        scores = self.table[idx]
        self.modes.append(self.training)
        self.graphs.append(scores.requires_grad)
        self.lengths.append(idx.shape[1])
        return scores


class Digest(nn.Module):
    # The next token is the sum of (i + 1) * token i over the context: every token and every place in it counts.

    def __init__(self, vocab_size, block_size):
        super().__init__()
        self.config = SimpleNamespace(block_size=block_size, vocab_size=vocab_size)
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, idx):
        places = torch.arange(1, idx.shape[1] + 1)
        following = (places * idx).cumsum(dim=1) % self.config.vocab_size
        return self.scale * nn.functional.one_hot(following, self.config.vocab_size)


class Generator(torch.Generator):
    # Stays here, so that two calls can be given the same one.
    pass


def generator(seed):
    made = Generator()
    made.manual_seed(seed)
    return made


def global_state():
    return torch.get_rng_state()


def set_global(seed):
    torch.manual_seed(seed)


def without_blocks(model):
    for index in range(len(model.blocks)):
        model.blocks[index] = nn.Identity()
    return model
"""


def build(student, **changes):
    """Build a small GPT."""
    return student.GPT(student.GPTConfig(**(SIZES | changes)))


def shapes_of(plan):
    """Name what a plan must learn, with shapes; the table of positions, whose name is free, is called "places"."""
    d, vocab_size = plan["d_model"], plan["vocab_size"]
    shapes = {"tok_emb.weight": (vocab_size, d), "ln_f.weight": (d,), "ln_f.bias": (d,)}
    if plan.get("positions", "learned") == "learned":
        shapes["places"] = (plan["block_size"], d)
    if not plan.get("tie_weights", True):
        shapes["lm_head.weight"] = (vocab_size, d)
    for block in (f"blocks.{index}" for index in range(plan["n_layers"])):
        shapes |= {f"{block}.attention.{matrix}.weight": (d, d) for matrix in MATRICES}
        with_bias = MATRICES if plan.get("qkv_bias", True) else ("proj",)
        shapes |= {f"{block}.attention.{matrix}.bias": (d,) for matrix in with_bias}
        shapes |= {f"{block}.mlp.up.weight": (4 * d, d), f"{block}.mlp.up.bias": (4 * d,)}
        shapes |= {f"{block}.mlp.down.weight": (d, 4 * d), f"{block}.mlp.down.bias": (d,)}
        if plan.get("norm", "pre") != "none":
            shapes |= {f"{block}.{norm}.{kind}": (d,) for norm in ("ln1", "ln2") for kind in ("weight", "bias")}
    return shapes


def places_of(model, plan):
    """Find the name of the table of positions, which is what is left when all else has its name; None without one."""
    known = {*shapes_of(plan), "lm_head.weight"}
    left = {name: shape for name, shape in model.shapes.items() if name not in known}
    right = [(plan["block_size"], plan["d_model"])] if plan.get("positions", "learned") == "learned" else []
    equal(list(left.values()), right, what="the shapes of what is learned beside tokens, blocks, ln_f and lm_head")
    return next(iter(left), None)


def load(model, plan, weights):
    """Set all weights by their names."""
    places = places_of(model, plan)
    model.load({places if name == "places" else name: weight for name, weight in weights.items()})
    return weights


def linear(x, weights, name):
    """Apply one linear layer by its name."""
    return F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def normalise(x, weights, name):
    """Apply one LayerNorm by its name."""
    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])


def angles(length, width):
    """Multiply each place with each of width / 2 speeds."""
    speeds = 10_000.0 ** (-torch.arange(0, width, 2, dtype=DOUBLE) / width)
    return torch.arange(length, dtype=DOUBLE)[:, None] * speeds


def rotate(x):
    """Turn neighbouring columns by the angle of their place, as products of complex numbers."""
    turns = torch.polar(torch.ones((), dtype=DOUBLE), angles(*x.shape[-2:]))
    return torch.view_as_real(torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * turns).flatten(-2)


def attend(x, weights, name, plan):
    """Run one attention layer on the fused kernel."""
    heads = [
        linear(x, weights, f"{name}.{each}").unflatten(-1, (plan["n_heads"], -1)).transpose(1, 2) for each in "qkv"
    ]
    q, k, v = heads
    length = x.shape[1]
    steps = torch.arange(length)[:, None] - torch.arange(length)
    bias = torch.zeros(length, length, dtype=DOUBLE)
    if plan["positions"] == "rope":
        q, k = rotate(q), rotate(k)
    if plan["positions"] == "alibi":  # the suites use powers of two
        slopes = 2.0 ** (-8.0 * torch.arange(1, plan["n_heads"] + 1, dtype=DOUBLE) / plan["n_heads"])
        bias = -slopes[:, None, None] * steps
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.masked_fill(steps < 0, -math.inf))
    return linear(output.transpose(1, 2).flatten(-2), weights, f"{name}.proj")


def think(x, weights, name):
    """Run one MLP."""
    return linear(F.gelu(linear(x, weights, f"{name}.up")), weights, f"{name}.down")


def run_block(x, weights, name, plan):
    """Run one block."""
    sublayers = (
        ("ln1", lambda h: attend(h, weights, f"{name}.attention", plan)),
        ("ln2", lambda h: think(h, weights, f"{name}.mlp")),
    )
    for norm, sublayer in sublayers:
        if plan["norm"] == "pre":
            x = x + sublayer(normalise(x, weights, f"{name}.{norm}"))
        else:
            x = x + sublayer(x)
            x = normalise(x, weights, f"{name}.{norm}") if plan["norm"] == "post" else x
    return x


def oracle(idx, weights, plan):
    """Run a whole GPT on ready-made functions, from weights that are given by name."""
    plan = {"positions": "learned", "norm": "pre"} | plan
    x = F.embedding(idx, weights["tok_emb.weight"])
    if plan["positions"] == "learned":
        x = x + weights["places"][: idx.shape[1]]
    if plan["positions"] == "sinusoidal":
        turns = angles(idx.shape[1], plan["d_model"])
        x = x + torch.stack([turns.sin(), turns.cos()], dim=-1).flatten(-2)
    for index in range(plan["n_layers"]):
        x = run_block(x, weights, f"blocks.{index}", plan)
    return normalise(x, weights, "ln_f") @ weights.get("lm_head.weight", weights["tok_emb.weight"]).T


def pooled(model, names):
    """Read several parameters and lay their numbers side by side."""
    found = [model.get(name) for name in names]
    for name, each in zip(names, found, strict=True):
        expect(isinstance(each, torch.Tensor), f"{name} must be a tensor.")
    return torch.cat([each.reshape(-1) for each in found]).double()


def chances_agree(text, right, what):
    """Compare the frequencies of the tokens in one column with their chances."""
    frequencies = text.bincount(minlength=right.numel()) / text.numel()
    # The standard deviation of a frequency is at most 0.5 / sqrt(n).
    agree(frequencies.double(), right.double(), atol=SIGMAS * 0.5 / math.sqrt(text.numel()), what=what)


@check(points=1, exercise="GPTConfig", hint="What is GPT-2 small?")
def test_defaults_are_gpt2_small(student, rng):
    """The plan's fields, and GPT-2 small where nothing else is said."""
    defaults = {
        "vocab_size": 50257,
        "block_size": 1024,
        "n_layers": 12,
        "n_heads": 12,
        "d_model": 768,
        "positions": "learned",
        "norm": "pre",
        "qkv_bias": True,
        "dropout": 0.0,
        "tie_weights": True,
    }
    plain = student.GPTConfig()
    for field, right in defaults.items():
        got = plain.get(field)
        equal(float(got) if field == "dropout" and type(got) is int else got, right, what=f"the default of {field}")
    others = {"positions": "rope", "norm": "post", "qkv_bias": False, "tie_weights": False, "dropout": 0.25}
    changed = student.GPTConfig(**(SIZES | others))
    for field, right in (SIZES | others).items():
        equal(changed.get(field), right, what=f"{field} as it was given")


@check(points=3, exercise="count_parameters", hint="For which field do the two disagree? Count that piece by hand.")
def test_arithmetic_equals_the_built_model(student, rng):
    """Forty plans drawn at random: the count is the sum over the built model, each kind of switch included."""
    for number in range(40):
        n_heads, n_layers, d_head, vocab_size, block_size, norm = (
            int(rng.integers(low, high, 1)) for low, high in ((1, 5), (1, 3), (1, 5), (3, 30), (2, 20), (0, 3))
        )
        plan = {
            "vocab_size": vocab_size,
            "block_size": block_size,
            "n_layers": n_layers,
            "n_heads": n_heads,
            "d_model": 2 * d_head * n_heads,
            "positions": POSITIONS[number % 5],
            "norm": NORMS[norm],
            "qkv_bias": number % 2 == 0,
            "tie_weights": number % 3 > 0,
        }
        right = sum(math.prod(shape) for shape in shapes_of(plan).values())
        config = student.GPTConfig(**plan)
        parts = student.count_parameters(config)
        expect(isinstance(parts, dict) and "total" in parts, "count_parameters must return a dict with a total.")
        shown = ", ".join(f"{field}={value!r}" for field, value in plan.items())
        equal(parts["total"], right, what=f"the counted total of {shown}")
        model = student.GPT(config)
        built = sum(math.prod(shape) for shape in model.shapes.values())
        equal(built, right, what=f"the parameters of the model built from {shown}")


@check(
    points=2,
    exercise="count_parameters",
    hint="Does any line of yours make a layer, or a list with one entry per block?",
)
def test_counting_builds_nothing(student, rng):
    """Ten million blocks of width 12,288 are counted at once, every part of them a whole number."""
    plan = {"vocab_size": 50_304, "block_size": 2_048, "n_layers": 10_000_000, "n_heads": 96, "d_model": 12_288}
    parts = student.count_parameters(student.GPTConfig(**plan, tie_weights=False))
    right = {
        "token_embeddings": 618_135_552,
        "position_embeddings": 25_165_824,
        "block": 1_812_099_072,
        "blocks": 18_120_990_720_000_000,
        "final_layernorm": 24_576,
        "lm_head": 618_135_552,
        "total": 18_120_991_981_461_504,
    }
    expect(isinstance(parts, dict), "count_parameters must return a dict.")
    for name, number in right.items():
        equal(parts.get(name), number, what=f"{name} of ten million blocks")


@check(
    points=3,
    exercise="GPT",
    hint="Do parts 4 and 5 pass their own checks? If so: which kinds of positions are added, which go to attention?",
)
def test_logits_are_exact_for_every_kind_of_positions(student, rng):
    """Weights set by name, five kinds of positions, one token to block_size tokens: the logits of the formula."""
    for positions in POSITIONS:
        plan = SIZES | {"positions": positions}
        model = build(student, positions=positions)
        model.to(DOUBLE)
        weights = load(model, plan, rng.like(shapes_of(plan), std=0.4, dtype=DOUBLE))
        # float64 keeps 1e-12 of numbers like these. Sinusoids and the angles of rope may be float32, good to 1e-6; two
        # blocks and their norms make at most a hundred times that of it.
        atol = 1e-4 if positions in ("sinusoidal", "rope") else 1e-9
        for batch, length in ((BATCH, T), (1, 1), (2, BLOCK_SIZE)):
            idx = rng.integers(0, VOCAB, batch, length)
            what = f"the logits with positions={positions!r} for B = {batch}, T = {length}"
            agree(model(idx), oracle(idx, weights, plan), atol=atol, what=what)


@check(
    points=3,
    exercise="GPT",
    hint="Do parts 4 and 5 pass their own checks? If so: is every field of the plan passed on?",
)
def test_logits_are_exact_for_every_variant(student, rng):
    """Three norms, biases or none, tied or not, one head or six, one block or three: the logits of the formula."""
    variants = [
        {"norm": "post"},
        {"norm": "none", "qkv_bias": False},
        {"tie_weights": False, "n_heads": 6},
        {"norm": "post", "qkv_bias": False, "tie_weights": False, "n_heads": 1, "n_layers": 1},
        {"norm": "none", "positions": "alibi", "n_layers": 3},
    ]
    for changes in variants:
        plan = SIZES | changes
        model = build(student, **changes)
        model.to(DOUBLE)
        # Without norms a block's output is a product of many weights: smaller ones keep the numbers near 1.
        std = 0.2 if changes.get("norm") == "none" else 0.4
        weights = load(model, plan, rng.like(shapes_of(plan), std=std, dtype=DOUBLE))
        shown = ", ".join(f"{field}={value!r}" for field, value in changes.items())
        idx = rng.integers(0, VOCAB, BATCH, T)
        # float64: rounding stays below 1e-12 of numbers like these.
        agree(model(idx), oracle(idx, weights, plan), atol=1e-9, what=f"the logits with {shown}")


@check(points=2, exercise="GPT", hint="Which kind of positions ends somewhere, and which kinds do not?")
def test_only_a_learned_table_ends(student, rng):
    """More than block_size tokens: learned positions refuse with the number, all other kinds go on."""
    for positions in POSITIONS:
        model = build(student, positions=positions)
        model.eval()
        idx = rng.integers(0, VOCAB, 2, 13)
        short = tensor(model(idx[:, :BLOCK_SIZE]), shape=(2, BLOCK_SIZE, VOCAB), what=f"the logits ({positions})")
        if positions == "learned":
            raises_value_error(model, idx, mentions=[("13", "8")], because="13 tokens, where the table has 8 places")
            raises_value_error(
                model, idx[:, :9], mentions=[("9", "8")], because="9 tokens, where the table has 8 places"
            )
        else:
            long = tensor(model(idx), shape=(2, 13, VOCAB), what=f"the logits for 13 tokens ({positions})")
            # What comes later changes nothing before: float32 rounding of scores below 1.
            agree(long[:, :BLOCK_SIZE], short, atol=1e-5, what=f"the first logits of a long text ({positions})")


@check(points=2, exercise="GPT", hint="From which positions may a logit know anything, and which of them must it know?")
def test_every_logit_reads_all_of_its_past_and_no_future(student, rng):
    """For every t, tokens from t on change no logit before t, and token 0 changes the last logit."""
    for positions in POSITIONS:
        plan = SIZES | {"positions": positions}
        model = build(student, positions=positions)
        model.to(DOUBLE)
        load(model, plan, rng.like(shapes_of(plan), std=0.4, dtype=DOUBLE))
        idx = rng.integers(0, VOCAB, 1, BLOCK_SIZE)
        # One batch: row t - 1 is the text with everything from t on replaced; the last row has another first token.
        texts = idx.repeat(BLOCK_SIZE, 1)
        for t in range(1, BLOCK_SIZE):
            texts[t - 1, t:] = (idx[0, t:] + rng.integers(1, VOCAB, BLOCK_SIZE - t)) % VOCAB
        texts[-1, 0] = (idx[0, 0] + 1) % VOCAB
        shape = (BLOCK_SIZE, BLOCK_SIZE, VOCAB)
        before = tensor(model(idx), shape=(1, BLOCK_SIZE, VOCAB), dtype=DOUBLE, what="the logits")[0]
        after = tensor(model(texts), shape=shape, dtype=DOUBLE, what="the logits")
        for t in range(1, BLOCK_SIZE):
            # float64, in a batch of another size: rounding is 1e-12, a leak is 1e-3 or more.
            what = f"the logits before {t} when tokens from {t} on change ({positions})"
            agree(after[t - 1, :t], before[:t], atol=1e-8, what=what)
        moved = (after[-1, -1] - before[-1]).abs().max().item()
        expect(moved > 1e-6, f"The last logits do not depend on the first token ({positions}).", evidence=after[-1, -1])


@check(points=2, exercise="GPT", hint="Does any operation run along the batch, or remember the call before?")
def test_each_text_is_alone_and_repeatable(student, rng):
    """Each text of a batch gives what it gives alone, and a second pass in eval mode gives the same."""
    plan = SIZES | {"dropout": 0.3}
    model = build(student, dropout=0.3)
    model.to(DOUBLE)
    load(model, plan, rng.like(shapes_of(plan), std=0.4, dtype=DOUBLE))
    model.eval()
    idx = rng.integers(0, VOCAB, BATCH, T)
    logits = tensor(model(idx), shape=(BATCH, T, VOCAB), dtype=DOUBLE, what="the logits")
    equal(model(idx), logits, what="the logits of a second pass in eval mode")
    for row in range(BATCH):
        # Another batch size may be added in another order: float64 rounding.
        agree(model(idx[row : row + 1]), logits[row : row + 1], atol=1e-9, what=f"the logits of text {row} alone")


@check(
    points=2, exercise="GPT", hint="Which standard deviation does each kind of layer get, and what do biases start at?"
)
def test_first_weights_are_normal_with_002(student, rng):
    """Embeddings and linear layers begin normal with a standard deviation of 0.02, biases with 0."""
    plan = {"vocab_size": 150, "block_size": 60, "n_layers": 3, "n_heads": 4, "d_model": 48, "tie_weights": False}
    model = student.GPT(student.GPTConfig(**plan))
    blocks = range(plan["n_layers"])
    groups = {
        "tok_emb": ["tok_emb.weight"],
        "lm_head": ["lm_head.weight"],
        "the table of positions": [places_of(model, plan)],
        "q, k and v": [f"blocks.{i}.attention.{matrix}.weight" for i in blocks for matrix in "qkv"],
        "mlp.up": [f"blocks.{i}.mlp.up.weight" for i in blocks],
    }
    for group, names in groups.items():
        values = pooled(model, names)
        n = values.numel()
        # The measured deviation of n normal numbers scatters by 1 / sqrt(2 n) of itself, their mean by 1 / sqrt(n).
        agree(values.std().item(), 0.02, atol=0.0, rtol=SIGMAS / math.sqrt(2 * n), what=f"the spread of {group}")
        agree(values.mean().item(), 0.0, atol=SIGMAS * 0.02 / math.sqrt(n), what=f"the mean of {group}")
        # 4.55 % of normal numbers are further out than two deviations (of uniform ones, none are).
        outside = (values.abs() > 0.04).double().mean().item()
        agree(outside, 0.0455, atol=SIGMAS * 0.208 / math.sqrt(n), what=f"the share of {group} beyond two deviations")
    biases = pooled(model, [name for name in shapes_of(plan) if name.endswith(".bias")])
    agree(biases, torch.zeros_like(biases), atol=0.0, what="all biases")  # set, not drawn: exact
    scales = pooled(model, [name for name in shapes_of(plan) if ".ln" in f".{name}" and name.endswith("weight")])
    agree(scales, torch.ones_like(scales), atol=0.0, what="the weights of all LayerNorms")


@check(
    points=3,
    exercise="GPT",
    hint="How many results are added to a token's vector, and which matrix is the last before?",
)
def test_residual_projections_begin_smaller(student, rng):
    """Attention's proj and the MLP's down begin with 0.02 / sqrt(2 n_layers), at any depth."""
    for n_layers in (5, 1):
        plan = {"vocab_size": 20, "block_size": 8, "n_layers": n_layers, "n_heads": 4, "d_model": 48}
        model = student.GPT(student.GPTConfig(**plan))
        spreads = []
        for path in ("attention.proj", "mlp.down"):
            values = pooled(model, [f"blocks.{i}.{path}.weight" for i in range(n_layers)])
            spreads.append(values.std())
        # The measured deviation of n normal numbers scatters by 1 / sqrt(2 n) of itself; proj has the fewer of them.
        rtol = SIGMAS / math.sqrt(2 * n_layers * 48 * 48)
        right = torch.full((2,), 0.02 / math.sqrt(2 * n_layers), dtype=DOUBLE)
        agree(torch.stack(spreads), right, atol=0.0, rtol=rtol, what=f"the spreads of proj and down, {n_layers} blocks")


@check(points=3, exercise="GPT", hint="By how many roads does a gradient reach the shared table?")
def test_shared_table_learns_from_both_ends(student, rng):
    """The gradient of the tied table is the sum of both that an untied model has; all others are the same."""
    plan, upstream = SIZES, rng.normal(BATCH, T, VOCAB, dtype=DOUBLE)
    weights = rng.like(shapes_of(plan), std=0.4, dtype=DOUBLE)
    idx = rng.integers(0, VOCAB, BATCH, T)
    tied, free = build(student), build(student, tie_weights=False)
    for model, extra in ((tied, {}), (free, {"lm_head.weight": weights["tok_emb.weight"]})):
        model.to(DOUBLE)
        load(model, plan, weights | extra)
    together, apart = (model.gradients(idx, upstream=upstream).parameters for model in (tied, free))
    found = {}
    for name, shape in (shapes_of(plan) | {"lm_head.weight": (VOCAB, D_MODEL)}).items():
        own = places_of(free, plan) if name == "places" else name
        found[name] = tensor(
            apart.get(own), shape=shape, dtype=DOUBLE, what=f"the gradient of {name} in the untied model"
        )
    both = found.pop("lm_head.weight") + found["tok_emb.weight"]
    shared = together.get("tok_emb.weight", together.get("lm_head.weight"))
    agree(shared, both, atol=1e-9, what="the gradient of the shared table")  # float64, sums of about 100
    for name, right in found.items():
        if name != "tok_emb.weight":
            own = places_of(tied, plan) if name == "places" else name
            # The same sums in both models: float64 rounding.
            agree(together.get(own), right, atol=1e-9, what=f"the gradient of {name} in the tied model")


@check(
    points=2,
    exercise="GPT",
    hint="Dropout has three places in this model. Which one is yours, and who gets the number?",
)
def test_dropout_reaches_its_three_places(student, rng):
    """In train mode a quarter is dropped from the sum of embeddings, from a sublayer's output and from the weights."""
    rate, width = 0.25, 2048
    plan = SIZES | {"vocab_size": D_MODEL, "dropout": rate, "n_layers": 1, "tie_weights": False}
    model = build(student, vocab_size=D_MODEL, dropout=rate, n_layers=1, tie_weights=False)
    weights = {name: torch.zeros(shape) for name, shape in shapes_of(plan).items()}
    weights |= {"lm_head.weight": torch.eye(D_MODEL), "ln_f.weight": torch.ones(D_MODEL)}
    ones_at = (("tok_emb.weight", "the vectors of tokens"), ("places", "the vectors of positions"))
    for name, source in ones_at:
        # The blocks add nothing, so the logits are ln_f of what came in: below its mean where a 1 was dropped.
        load(model, plan, weights | {name: torch.ones(shapes_of(plan)[name])})
        logits = tensor(model(torch.zeros(32, 8, dtype=LONG)), shape=(32, 8, D_MODEL), what="the logits in train mode")
        dropped = (logits < -1e-3).double().mean().item()
        # A share of n yes-or-no draws scatters by sqrt(p (1 - p) / n).
        atol = SIGMAS * math.sqrt(rate * (1 - rate) / logits.numel())
        agree(dropped, rate, atol=atol, what=f"the share that dropout takes from the sum of embeddings ({source})")
    one = {"blocks.0.attention.proj.bias": torch.ones(D_MODEL)}
    load(model, plan, weights | one)
    x = torch.zeros(1, width // 8, D_MODEL)
    added = tensor(model.get("blocks.0")(x), shape=x.shape, what="a block's output")
    atol = SIGMAS * math.sqrt(rate * (1 - rate) / added.numel())  # as above
    agree(
        (added == 0).double().mean().item(),
        rate,
        atol=atol,
        what="the share that dropout takes from a sublayer's output",
    )
    # Each head passes its value, 1, on with a weight of 1: what is 0 was dropped from the weights.
    one = {"blocks.0.attention.v.bias": torch.ones(D_MODEL), "blocks.0.attention.proj.weight": torch.eye(D_MODEL)}
    load(model, plan, weights | one)
    x = torch.zeros(width // N_HEADS, 1, D_MODEL)
    mixed = tensor(model.get("blocks.0.attention")(x), shape=x.shape, what="attention's output")
    atol = SIGMAS * math.sqrt(rate * (1 - rate) / width)  # one draw for each head of each text
    agree(
        (mixed == 0).double().mean().item(),
        rate,
        atol=atol,
        what="the share that dropout takes from attention's weights",
    )


@check(points=2, exercise="GPT", hint="Which tensors do you make yourself, and which device and dtype do they have?")
def test_model_moves_to_other_types_and_devices(student, rng):
    """In half precision the logits are finite, near the truth and of that type; on another device they stay there."""
    for positions in POSITIONS:
        plan = SIZES | {"positions": positions, "n_layers": 1}
        weights = rng.like(shapes_of(plan), std=0.2, dtype=DOUBLE)
        idx = rng.integers(0, VOCAB, 2, T)
        model = build(student, positions=positions, n_layers=1)
        model.to(DOUBLE)
        load(model, plan, weights)
        exact = tensor(model(idx), shape=(2, T, VOCAB), dtype=DOUBLE, what=f"the logits in float64 ({positions})")
        for dtype in (torch.float16, torch.bfloat16):
            model.to(dtype)
            # bfloat16 keeps 4e-3 of each number; logits are about 1, and some twenty roundings come together.
            agree(model(idx), exact.to(dtype), atol=0.25, what=f"the logits in {dtype} ({positions})")
        nowhere = torch.zeros(2, T, dtype=LONG, device="meta")  # the device meta has shapes and no numbers
        model.to("meta")
        reply = model.ask((nowhere,), {})
        if reply.error is not None:  # something in the blocks looks at numbers: then without them
            model = student.probe(MODELS, "without_blocks", model)
            reply = None
        logits = model(nowhere) if reply is None else reply.value
        expected = torch.empty(2, T, VOCAB, dtype=torch.bfloat16, device="meta")
        agree(logits, expected, atol=0.0, what=f"the logits on another device ({positions})")


@check(points=2, exercise="generate", hint="Count from the right: which tokens are the newest block_size?")
def test_context_is_the_newest_tokens_in_their_order(student, rng):
    """Prompts shorter, as long as and longer than the context, and no tokens at all: all rows are right."""
    for block_size, length, n_new in ((4, 2, 5), (4, 4, 6), (5, 9, 4), (1, 3, 4), (6, 1, 2), (4, 7, 0)):
        model = student.probe(MODELS, "Digest", vocab_size=97, block_size=block_size)
        prompt = rng.integers(0, 97, BATCH, length)
        rows = prompt.tolist()
        for row in rows:
            for _ in range(n_new):
                context = row[max(0, len(row) - block_size) :]
                row.append(sum(place * token for place, token in enumerate(context, start=1)) % 97)
        text = student.generate(model, prompt, n_new, temperature=0)
        equal(text, torch.tensor(rows), what=f"{n_new} tokens after {length}, with a context of {block_size}")
    gpt = build(student)
    text = tensor(
        student.generate(gpt, prompt % VOCAB, 5, temperature=0), shape=(BATCH, 12), dtype=LONG, what="the text"
    )
    for end in range(7, 12):
        logits = gpt(text[:, max(0, end - BLOCK_SIZE) : end].clamp(0, VOCAB - 1))
        logits = tensor(logits, shape=(BATCH, min(end, BLOCK_SIZE), VOCAB), what="your GPT's logits")
        equal(text[:, end], logits[:, -1].argmax(dim=-1), what=f"token {end} of a text by your own GPT")


@check(points=2, exercise="generate", hint="What are the cases that need no luck at all?")
def test_argmax_at_temperature_zero_and_top_one(student, rng):
    """Temperature 0, whatever top_k is, and top_k = 1, whatever the temperature is, take the largest score."""
    table = rng.normal(VOCAB, VOCAB)
    model = student.probe(MODELS, "Table", table, block_size=3)
    prompt = rng.integers(0, VOCAB, BATCH, 2)
    rows = prompt.tolist()
    for row in rows:
        for _ in range(6):
            row.append(int(table[row[-1]].argmax()))
    cases = (
        {"temperature": 0},
        {"temperature": 0.0, "top_k": 4},
        {"temperature": 0.0, "top_k": 10 * VOCAB},
        {"top_k": 1},
        {"top_k": 1, "temperature": 5.0},
    )
    for arguments in cases:
        shown = ", ".join(f"{name}={value}" for name, value in arguments.items())
        equal(student.generate(model, prompt, 6, **arguments), torch.tensor(rows), what=f"the text with {shown}")


@check(points=3, exercise="generate", hint="Scores, temperature, top_k, softmax: where does each of them act?")
def test_frequencies_follow_temperature_and_top_k(student, rng):
    """Rows with different prompts draw each for themselves, in the proportions of their own scores."""
    n_draws, vocab_size = 6_000, 6
    table = rng.normal(vocab_size, vocab_size, std=1.5)
    model = student.probe(MODELS, "Table", table, block_size=8)
    prompts = torch.arange(2).repeat(n_draws)[:, None] * 3  # every second row begins with 3, the others with 0
    for arguments in (
        {},
        {"temperature": 0.3},
        {"temperature": 3.0},
        {"top_k": 3},
        {"top_k": vocab_size, "temperature": 1.5},
        {"top_k": 50, "temperature": 0.8},
    ):
        shown = ", ".join(f"{name}={value}" for name, value in arguments.items()) or "temperature=1.0"
        text = student.generate(model, prompts, 1, **arguments, generator=rng.generator())
        text = tensor(text, shape=(2 * n_draws, 2), dtype=LONG, what=f"the text ({shown})")
        inside = (text >= 0).all() and (text < vocab_size).all()
        expect(inside, "Every token must be one of the model's.", evidence=text[:20])
        for begin in (0, 1):
            scores = table[3 * begin].double() / arguments.get("temperature", 1.0)
            kept = scores.argsort(descending=True)[: arguments.get("top_k", vocab_size)]
            right = torch.zeros(vocab_size, dtype=DOUBLE)
            right[kept] = scores[kept].softmax(dim=-1)
            what = f"the frequencies after token {3 * begin} ({shown})"
            chances_agree(text[begin::2, 1], right, what)
            dropped = text[begin::2, 1][~torch.isin(text[begin::2, 1], kept)]
            expect(dropped.numel() == 0, f"A token beyond top_k was drawn ({shown}).", evidence=dropped[:5])


@check(
    points=2,
    exercise="generate",
    hint="What did the model look like before you came, and what must be off while you write?",
)
def test_model_is_left_as_it_was_found(student, rng):
    """Eval mode and no gradient in every step, then the mode from before, whichever it was."""
    for train in (True, False):
        model = student.probe(MODELS, "Table", rng.normal(VOCAB, VOCAB), block_size=4)
        model.train(train)
        for arguments in ({"temperature": 0}, {"top_k": 3, "generator": rng.generator()}):
            text = student.generate(model, rng.integers(0, VOCAB, 2, 3), 5, **arguments)
            tensor(text, shape=(2, 8), dtype=LONG, what="the text")
            modes, graphs, lengths = (model.get(name) for name in ("modes", "graphs", "lengths"))
            expect(isinstance(modes, list) and True not in modes, "The model must be in eval mode.", evidence=modes)
            expect(isinstance(graphs, list) and True not in graphs, "No gradient is needed here.", evidence=graphs)
            longest = max(lengths) if isinstance(lengths, list) and lengths else 0
            expect(0 < longest <= 4, "The model must see block_size tokens at most.", evidence=lengths)
            equal(model.get("training"), train, what="training, after generate")


@check(points=2, exercise="generate", hint="Where does every single random number come from?")
def test_all_randomness_is_the_generators(student, rng):
    """The same generator gives the same text and moves on; without one, texts differ from call to call."""
    model = student.probe(MODELS, "Table", rng.normal(VOCAB, VOCAB, std=0.3), block_size=4)
    prompt, length = rng.integers(0, VOCAB, BATCH, 2), 30
    seeds = [int(seed) for seed in rng.integers(0, 2**31, 3)]

    def write(generator):
        text = student.generate(model, prompt, length, generator=generator)
        return tensor(text, shape=(BATCH, 2 + length), dtype=LONG, what="the text")

    texts = []
    for number in (1, 2):
        student.probe(MODELS, "set_global", seeds[number])
        before = student.probe(MODELS, "global_state")
        texts.append(write(torch.Generator().manual_seed(seeds[0])))
        after = student.probe(MODELS, "global_state")
        equal(after, before, what="the state of torch's global generator, after a text from another one")
    equal(texts[1], texts[0], what="the text of a second generator with the same seed")
    kept = student.probe(MODELS, "generator", seeds[0])  # one generator for two calls
    equal(write(kept), texts[0], what="the text of a third generator with the same seed")
    # 90 draws among 11 tokens: two independent texts are never equal.
    again = write(kept)
    expect(not torch.equal(again, texts[0]), "A generator must move on with each call.", evidence=again)
    equal(again[:, :2], prompt, what="the prompt in front of the text")
    first, second = write(None), write(None)
    expect(not torch.equal(first, second), "Without a generator two texts must differ.", evidence=second)
    rows = {tuple(row) for row in second[:, 2:].tolist()}
    expect(len(rows) == BATCH, "Each row of the batch must have draws of its own.", evidence=second)


@check(points=1, exercise="attention_matrix_bytes", hint="Which of the four numbers counts twice?")
def test_bytes_of_any_scores(student, rng):
    """Every batch, every number of heads, every number format: exact ints."""
    for _ in range(6):
        n_tokens, n_heads, batch = (int(rng.integers(2, high, 1)) for high in (100_000, 40, 70))
        size = (2, 4, 8)[int(rng.integers(0, 3, 1))]
        got = student.attention_matrix_bytes(n_tokens, n_heads, batch=batch, bytes_per_element=size)
        right = size * batch * n_heads * n_tokens * n_tokens
        equal(got, right, what=f"the bytes for {n_tokens} tokens, {n_heads} heads, {batch} texts, {size} bytes each")


@check(
    points=2,
    exercise="flops_per_token",
    hint="Write every product with its three sizes: which are missing, or one too many?",
)
def test_operations_of_any_plan(student, rng):
    """Every product of a forward pass, with its three sizes: exact ints, whatever the variant."""
    for number in range(6):
        n_heads, n_layers, d_head, vocab_size, block_size, norm = (
            int(rng.integers(low, high, 1))
            for low, high in ((2, 9), (2, 30), (2, 65), (50, 60_000), (10, 5_000), (0, 3))
        )
        d = 2 * n_heads * d_head
        plan = {
            "vocab_size": vocab_size,
            "block_size": block_size,
            "n_layers": n_layers,
            "n_heads": n_heads,
            "d_model": d,
        }
        plan |= {"positions": POSITIONS[number % 5], "norm": NORMS[norm], "qkv_bias": number % 2 == 0}
        plan |= {"tie_weights": number % 3 > 0}
        products = [(block_size, d, vocab_size)]
        products += n_layers * (4 * [(block_size, d, d)] + [(block_size, d, 4 * d), (block_size, 4 * d, d)])
        products += n_layers * n_heads * [(block_size, 2 * d_head, block_size), (block_size, block_size, 2 * d_head)]
        right = sum(2 * m * k * n for m, k, n in products) // block_size
        shown = ", ".join(f"{field}={value!r}" for field, value in plan.items())
        equal(student.flops_per_token(student.GPTConfig(**plan)), right, what=f"the operations per token of {shown}")
