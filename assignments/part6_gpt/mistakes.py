"""Wrong solutions of part 6, one function each, and what a student who wrote one is told."""

import math

import torch
from part4_block import MLP, Block
from part5_positions import CausalSelfAttention, LearnedPositions, sinusoidal_positions
from part6_gpt import GPT, NORMS, GPTConfig, attention_matrix_bytes, count_parameters, flops_per_token, generate
from torch import nn
from torch.nn import functional as F

from autograder.checks import mistake

# The plan


@mistake(of="GPTConfig.__post_init__")
def unknown_positions_accepted(self):
    """A misspelt kind of positions falls through every branch, and the model silently has none: refuse what is not
    one of the five words."""
    if self.norm not in NORMS:
        raise ValueError(f"norm = {self.norm!r} is unknown")
    if self.n_heads < 1 or self.d_model % self.n_heads != 0:
        raise ValueError(f"n_heads = {self.n_heads} does not divide d_model = {self.d_model}")


@mistake(of="GPTConfig.__post_init__")
def plan_refused_by_assertion(self):
    """You refuse with an assert: it says nothing to whoever calls, and vanishes under python -O. The contract asks
    for a ValueError with the field and its value."""
    assert self.positions in ("learned", "none", "sinusoidal", "rope", "alibi")
    assert self.norm in NORMS
    assert self.n_heads >= 1 and self.d_model % self.n_heads == 0


@mistake(of="GPTConfig.__post_init__")
def plan_refused_without_a_word(self):
    """You refuse the right plans, and the message does not say what was wrong with them: name the field and the value
    that it had."""
    known = self.positions in ("learned", "none", "sinusoidal", "rope", "alibi") and self.norm in NORMS
    if not known or self.n_heads < 1 or self.d_model % self.n_heads != 0:
        raise ValueError("invalid configuration")


@mistake(of="GPTConfig.__post_init__")
def plan_without_norms_refused(self, right=GPTConfig.__post_init__):
    """You refuse norm="none", which is one of the three: a block without norms is there to be compared with."""
    if self.norm == "none":
        raise ValueError(f"norm = {self.norm!r} is unknown")
    right(self)


@mistake(of="GPTConfig.__post_init__")
def dropout_by_default(self, right=GPTConfig.__post_init__):
    """Your plan has a dropout of 0.1 where nothing is said: the default is 0.0, and who wants dropout asks for it."""
    right(self)
    self.dropout = self.dropout or 0.1


# The count: what the number of GPT-2 small says


@mistake(of="count_parameters")
def output_layer_counted_although_tied(config, right=count_parameters):
    """This is exactly the number you get when the output layer is counted beside the table that it shares: one tensor
    under two names is learned once."""
    parts, table = right(config), config.vocab_size * config.d_model
    return parts | {"lm_head": table, "total": parts["total"] - parts["lm_head"] + table}


@mistake(of="count_parameters")
def positions_not_counted(config, right=count_parameters):
    """This is exactly the number you get without the table of positions: learned positions are a vector for each of
    block_size places."""
    parts = right(config)
    return parts | {"position_embeddings": 0, "total": parts["total"] - parts["position_embeddings"]}


@mistake(of="count_parameters")
def linear_biases_not_counted(config, right=count_parameters):
    """This is exactly the number you get when the biases of the linear layers are forgotten: nine times d in each
    block, four of them in attention and five in the MLP."""
    parts, L = right(config), config.n_layers
    biases = (9 if config.qkv_bias else 6) * config.d_model
    block = parts["block"] - biases
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] - L * biases}


@mistake(of="count_parameters")
def layernorms_not_counted(config, right=count_parameters):
    """This is exactly the number you get when the LayerNorms are forgotten: each learns a weight and a bias, two of
    them stand in a block and one after the last."""
    parts, L = right(config), config.n_layers
    norms = 0 if config.norm == "none" else 4 * config.d_model
    block = parts["block"] - norms
    total = parts["total"] - L * norms - parts["final_layernorm"]
    return parts | {"block": block, "blocks": L * block, "final_layernorm": 0, "total": total}


@mistake(of="count_parameters")
def output_bias_counted(config, right=count_parameters):
    """This is exactly the number you get when the output layer has a bias, one number for each token: it has none."""
    parts = right(config)
    return parts | {"lm_head": parts["lm_head"] + config.vocab_size, "total": parts["total"] + config.vocab_size}


@mistake(of="count_parameters")
def vocabulary_padded(config, right=count_parameters):
    """This is exactly the number you get when the vocabulary is rounded up to a multiple of 64 (50,304 for GPT-2): that
    is faster on some hardware, and counts rows that no token uses."""
    parts = right(config)
    padded = -(-config.vocab_size // 64) * 64 * config.d_model
    extra = padded - parts["token_embeddings"]
    head = parts["lm_head"] + (0 if config.tie_weights else extra)
    total = parts["total"] + extra + head - parts["lm_head"]
    return parts | {"token_embeddings": padded, "lm_head": head, "total": total}


@mistake(of="count_parameters")
def masks_counted(config, right=count_parameters):
    """This is exactly the number you get when each block's causal mask is counted: a mask is a buffer, nobody learns
    it."""
    parts, L = right(config), config.n_layers
    block = parts["block"] + config.block_size**2
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] + L * config.block_size**2}


@mistake(of="count_parameters")
def shared_table_subtracted(config, right=count_parameters):
    """This is exactly the number you get when the shared table is subtracted once too often: it is shared by two
    layers, and still counts once."""
    parts = right(config)
    return parts | {"total": parts["total"] - (parts["token_embeddings"] if config.tie_weights else 0)}


@mistake(of="count_parameters")
def only_blocks_counted(config, right=count_parameters):
    """This is exactly the number of parameters in the blocks: both tables and the last LayerNorm are learned too."""
    parts = right(config)
    return parts | {"total": parts["blocks"]}


@mistake(of="count_parameters")
def one_block_added_to_all_blocks(config, right=count_parameters):
    """This is exactly the number you get when everything in the dict is added up: one block is in there, and all
    blocks as well, so it was counted twice."""
    parts = right(config)
    return parts | {"total": parts["total"] + parts["block"]}


@mistake(of="count_parameters")
def one_block_counted_as_all(config, right=count_parameters):
    """This is exactly the number you get for a model with a single block: there are n_layers of them."""
    parts = right(config)
    return parts | {"blocks": parts["block"], "total": parts["total"] - parts["blocks"] + parts["block"]}


@mistake(of="count_parameters")
def final_layernorm_not_counted(config, right=count_parameters):
    """This is exactly the number you get without the LayerNorm that stands after the blocks: a weight and a bias, d
    numbers each."""
    parts = right(config)
    return parts | {"final_layernorm": 0, "total": parts["total"] - parts["final_layernorm"]}


@mistake(of="count_parameters")
def layernorms_counted_without_biases(config, right=count_parameters):
    """This is exactly the number you get when each LayerNorm has a weight and no bias: it learns both."""
    parts, L, d = right(config), config.n_layers, config.d_model
    biases = 0 if config.norm == "none" else 2 * d
    block = parts["block"] - biases
    return parts | {"block": block, "blocks": L * block, "final_layernorm": d, "total": parts["total"] - L * biases - d}


@mistake(of="count_parameters")
def one_matrix_of_the_mlp_counted(config, right=count_parameters):
    """This is exactly the number you get when the MLP has one of its two matrices: it goes up to 4d and comes back, 4d²
    weights each way."""
    parts, L, missing = right(config), config.n_layers, 4 * config.d_model**2
    block = parts["block"] - missing
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] - L * missing}


@mistake(of="count_parameters")
def output_projections_not_counted(config, right=count_parameters):
    """This is exactly the number you get when attention has queries, keys and values and no output projection: d² + d
    are missing in each block."""
    parts, L, missing = right(config), config.n_layers, config.d_model**2 + config.d_model
    block = parts["block"] - missing
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] - L * missing}


@mistake(of="count_parameters")
def projections_counted_for_each_head(config, right=count_parameters):
    """This is exactly the number you get when every head has d x d matrices for queries, keys and values: together the
    heads have that many, each of them d_head columns."""
    parts, L = right(config), config.n_layers
    extra = (config.n_heads - 1) * 3 * config.d_model**2
    block = parts["block"] + extra
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] + L * extra}


@mistake(of="count_parameters")
def counted_in_floats(config, right=count_parameters):
    """Your numbers are right and they are floats: parameters are whole numbers, and above 2**53 a float no longer
    holds every one of them."""
    return {name: float(number) for name, number in right(config).items()}


# The count: what the variants change


@mistake(of="count_parameters")
def untied_output_layer_not_counted(config, right=count_parameters):
    """This is exactly the number you get when the output layer is always taken as shared: with tie_weights=False it has
    a table of its own."""
    parts = right(config)
    return parts | {"lm_head": 0, "total": parts["total"] - parts["lm_head"]}


@mistake(of="count_parameters")
def positions_always_counted(config, right=count_parameters):
    """This is exactly the number you get when every kind of positions has a table: sinusoids, rotations and slopes are
    computed and not learned."""
    parts, table = right(config), config.block_size * config.d_model
    return parts | {"position_embeddings": table, "total": parts["total"] - parts["position_embeddings"] + table}


@mistake(of="count_parameters")
def qkv_biases_always_counted(config, right=count_parameters):
    """This is exactly the number you get when queries, keys and values always have biases: qkv_bias=False takes 3d
    numbers out of each block."""
    parts, L = right(config), config.n_layers
    extra = 0 if config.qkv_bias else 3 * config.d_model
    block = parts["block"] + extra
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] + L * extra}


@mistake(of="count_parameters")
def output_bias_of_attention_lost_with_the_others(config, right=count_parameters):
    """This is exactly the number you get when qkv_bias=False takes the bias of the output projection as well: that one
    is always there."""
    parts, L = right(config), config.n_layers
    missing = 0 if config.qkv_bias else config.d_model
    block = parts["block"] - missing
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] - L * missing}


@mistake(of="count_parameters")
def norms_always_counted(config, right=count_parameters):
    """This is exactly the number you get when a block always has two LayerNorms: with norm="none" it has none, which is
    4d numbers fewer."""
    parts, L = right(config), config.n_layers
    extra = 4 * config.d_model if config.norm == "none" else 0
    block = parts["block"] + extra
    return parts | {"block": block, "blocks": L * block, "total": parts["total"] + L * extra}


@mistake(of="count_parameters")
def final_layernorm_lost_with_the_others(config, right=count_parameters):
    """This is exactly the number you get when norm="none" takes the last LayerNorm as well: the one after the blocks
    stands there for every norm."""
    parts = right(config)
    norm = 0 if config.norm == "none" else parts["final_layernorm"]
    return parts | {"final_layernorm": norm, "total": parts["total"] - parts["final_layernorm"] + norm}


# The layers


@mistake(of="GPT.__init__")
def output_layer_not_tied(self, config, right=GPT.__init__):
    """Your output layer has a table of its own where it should share that of the tokens: the two are never made one
    tensor."""
    right(self, config)
    self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
    nn.init.normal_(self.lm_head.weight, std=0.02)


@mistake(of="GPT.__init__")
def output_layer_always_tied(self, config, right=GPT.__init__):
    """Your output layer shares the table of tokens also with tie_weights=False, which asks for two tables."""
    right(self, config)
    self.lm_head.weight = self.tok_emb.weight


@mistake(of="GPT.__init__")
def table_copied_once(self, config, right=GPT.__init__):
    """Your output layer has a copy of the table of tokens: equal at the start, and different after the first step of
    training. Sharing is one tensor under two names."""
    right(self, config)
    if config.tie_weights:
        self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        with torch.no_grad():
            self.lm_head.weight.copy_(self.tok_emb.weight)


@mistake(of="GPT.__init__")
def output_layer_with_bias(self, config, right=GPT.__init__):
    """Your output layer has a bias: nn.Linear makes one unless it is told not to."""
    right(self, config)
    weight = self.lm_head.weight
    self.lm_head = nn.Linear(config.d_model, config.vocab_size)
    self.lm_head.weight = weight
    nn.init.zeros_(self.lm_head.bias)


@mistake(of="GPT.__init__")
def blocks_in_a_plain_list(self, config, right=GPT.__init__):
    """Your blocks are in a plain list, where nn.Module does not see them: they are not counted, not moved and never
    trained. nn.ModuleList is the list that registers."""
    right(self, config)
    blocks = list(self.blocks)
    del self.blocks
    self.blocks = blocks


@mistake(of="GPT.__init__")
def one_block_in_every_place(self, config, right=GPT.__init__):
    """All places of your list hold one and the same block: multiplying a list repeats the object, and n_layers blocks
    need n_layers objects."""
    right(self, config)
    self.blocks = nn.ModuleList([self.blocks[0]] * config.n_layers)


@mistake(of="GPT.__init__")
def one_attention_for_all_blocks(self, config, right=GPT.__init__):
    """All of your blocks hold one and the same attention: made once before the loop, it is shared by all. Each block
    needs its own."""
    right(self, config)
    for block in self.blocks:
        block.attention = self.blocks[0].attention


@mistake(of="GPT.__init__")
def last_layernorm_for_prenorm_only(self, config, right=GPT.__init__):
    """Your model has its last LayerNorm with norm="pre" only: it stands after the blocks for every norm."""
    right(self, config)
    if config.norm != "pre":
        self.ln_f = nn.Identity()


@mistake(of="GPT.__init__")
def norm_not_passed_on(self, config, right=GPT.__init__):
    """Your blocks are always pre-norm: the plan's norm does not reach them."""
    right(self, config)
    d, inside = config.d_model, config.positions if config.positions in ("rope", "alibi") else "none"
    self.blocks = nn.ModuleList(
        Block(
            d,
            CausalSelfAttention(d, config.n_heads, config.qkv_bias, inside, config.dropout),
            MLP(d),
            dropout=config.dropout,
        )
        for _ in range(config.n_layers)
    )
    self.init_weights()


@mistake(of="GPT.__init__")
def qkv_bias_not_passed_on(self, config, right=GPT.__init__):
    """Your attention always has biases for queries, keys and values: the plan's qkv_bias does not reach it."""
    right(self, config)
    d, inside = config.d_model, config.positions if config.positions in ("rope", "alibi") else "none"
    for block in self.blocks:
        block.attention = CausalSelfAttention(d, config.n_heads, True, inside, config.dropout)
    self.init_weights()


@mistake(of="GPT.__init__")
def positions_not_passed_to_attention(self, config, right=GPT.__init__):
    """Your attention is built without positions for every plan: "rope" and "alibi" act inside it and must be passed
    on."""
    right(self, config)
    for block in self.blocks:
        block.attention = CausalSelfAttention(config.d_model, config.n_heads, config.qkv_bias, "none", config.dropout)
    self.init_weights()


@mistake(of="GPT.__init__")
def number_of_heads_not_passed_on(self, config, right=GPT.__init__):
    """These are exactly the numbers you get when attention always has one head: the count does not depend on the number
    of heads, the logits do."""
    right(self, config)
    inside = config.positions if config.positions in ("rope", "alibi") else "none"
    for block in self.blocks:
        block.attention = CausalSelfAttention(config.d_model, 1, config.qkv_bias, inside, config.dropout)
    self.init_weights()


@mistake(of="GPT.__init__")
def dropout_not_passed_to_attention(self, config, right=GPT.__init__):
    """Nothing is dropped from the weights of attention in train mode: the plan's dropout does not reach it."""
    right(self, config)
    inside = config.positions if config.positions in ("rope", "alibi") else "none"
    for block in self.blocks:
        block.attention = CausalSelfAttention(config.d_model, config.n_heads, config.qkv_bias, inside)
    self.init_weights()


@mistake(of="GPT.__init__")
def dropout_not_passed_to_blocks(self, config, right=GPT.__init__):
    """Nothing is dropped from what your sublayers add in train mode: the plan's dropout does not reach the blocks."""
    right(self, config)
    self.blocks = nn.ModuleList(
        Block(config.d_model, block.attention, block.mlp, norm=config.norm) for block in self.blocks
    )


@mistake(of="GPT.__init__")
def table_of_positions_always_made(self, config, right=GPT.__init__):
    """Your model learns a table of positions with every kind of them: only "learned" has one."""
    right(self, config)
    if self.positions is None:
        self.positions = LearnedPositions(config.block_size, config.d_model)
        self.init_weights()


# The first weights


@mistake(of="GPT.init_weights")
def first_weights_left_to_torch(self):
    """Your first weights are torch's own: an embedding begins with a standard deviation of 1, and a tied output layer
    then makes scores that spread by sqrt(d)."""


@mistake(of="GPT.init_weights")
def embeddings_left_to_torch(self, right=GPT.init_weights):
    """Your linear layers begin with 0.02 and your embeddings with torch's own 1.0: the rule is for both."""
    tables = [module for module in self.modules() if isinstance(module, nn.Embedding)]
    right(self)
    for module in tables:
        if module.weight is not self.lm_head.weight:
            module.reset_parameters()


@mistake(of="GPT.init_weights")
def variance_taken_for_deviation(self):
    """This is exactly the spread that you get with a variance of 0.02: 0.02 is the standard deviation, its square is the
    variance."""
    for module in self.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02**0.5)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    for block in self.blocks:
        for last in (block.attention.proj, block.mlp.down):
            nn.init.normal_(last.weight, std=(0.02 / (2 * self.config.n_layers)) ** 0.5)


@mistake(of="GPT.init_weights")
def first_weights_uniform(self):
    """Your first weights have the right spread and are uniform: they should be normal, where one in twenty is beyond two
    standard deviations."""
    for module in self.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.uniform_(module.weight, -0.02 * math.sqrt(3), 0.02 * math.sqrt(3))
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    width = 0.02 * math.sqrt(3 / (2 * self.config.n_layers))
    for block in self.blocks:
        for last in (block.attention.proj, block.mlp.down):
            nn.init.uniform_(last.weight, -width, width)


@mistake(of="GPT.init_weights")
def biases_left_to_torch(self, right=GPT.init_weights):
    """The biases of your linear layers do not begin with 0: torch draws them, unless you set them."""
    kept = [
        (module, module.bias.detach().clone())
        for module in self.modules()
        if getattr(module, "in_features", 0) and module.bias is not None
    ]
    right(self)
    with torch.no_grad():
        for module, bias in kept:
            module.bias.copy_(bias)


@mistake(of="GPT.init_weights")
def residual_projections_not_scaled(self):
    """This is exactly the spread of 0.02 that all other weights have: 2·n_layers results are added to each token's
    vector, so the last matrix of each is divided by the root of that number. If you did divide, something set 0.02 again
    afterwards."""
    for module in self.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)


@mistake(of="GPT.init_weights")
def scaled_by_the_number_of_blocks(self, right=GPT.init_weights):
    """This is exactly the spread that you get with sqrt(n_layers): each block adds to the vector twice, so it is
    sqrt(2·n_layers)."""
    right(self)
    for block in self.blocks:
        for last in (block.attention.proj, block.mlp.down):
            nn.init.normal_(last.weight, std=0.02 / math.sqrt(self.config.n_layers))


@mistake(of="GPT.init_weights")
def scaled_without_the_root(self, right=GPT.init_weights):
    """This is exactly the spread that you get when 0.02 is divided by 2·n_layers: it is variances that add up, so
    standard deviations are divided by the root."""
    right(self)
    for block in self.blocks:
        for last in (block.attention.proj, block.mlp.down):
            nn.init.normal_(last.weight, std=0.02 / (2 * self.config.n_layers))


@mistake(of="GPT.init_weights")
def scaled_for_twelve_blocks(self, right=GPT.init_weights):
    """This is exactly the spread that twelve blocks need, whatever their number is: n_layers is in the plan."""
    right(self)
    for block in self.blocks:
        for last in (block.attention.proj, block.mlp.down):
            nn.init.normal_(last.weight, std=0.02 / math.sqrt(24))


@mistake(of="GPT.init_weights")
def only_attention_scaled(self, right=GPT.init_weights):
    """Attention's output projection begins smaller, the MLP's does not: both add to the token's vector."""
    right(self)
    for block in self.blocks:
        nn.init.normal_(block.mlp.down.weight, std=0.02)


@mistake(of="GPT.init_weights")
def only_mlp_scaled(self, right=GPT.init_weights):
    """The MLP's last matrix begins smaller, attention's output projection does not: both add to the token's vector."""
    right(self)
    for block in self.blocks:
        nn.init.normal_(block.attention.proj.weight, std=0.02)


@mistake(of="GPT.init_weights")
def first_matrix_of_the_mlp_scaled(self, right=GPT.init_weights):
    """The MLP's first matrix begins smaller in place of its last: the one before the addition decides how much is
    added."""
    right(self)
    for block in self.blocks:
        nn.init.normal_(block.mlp.down.weight, std=0.02)
        nn.init.normal_(block.mlp.up.weight, std=0.02 / math.sqrt(2 * self.config.n_layers))


@mistake(of="GPT.init_weights")
def every_matrix_of_the_blocks_scaled(self, right=GPT.init_weights):
    """Every matrix of your blocks begins smaller: only the two whose results are added to the token's vector should."""
    right(self)
    for module in self.blocks.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.02 / math.sqrt(2 * self.config.n_layers))


# The bottom: tokens, positions, dropout


@mistake(of="GPT.embed")
def learned_positions_not_added(self, idx, right=GPT.embed):
    """These are exactly the numbers you get when the table of positions is made and never added."""
    if self.positions is None:
        return right(self, idx)
    if idx.shape[-1] > self.config.block_size:
        raise ValueError(f"idx has T = {idx.shape[-1]} tokens, more than block_size = {self.config.block_size}")
    return self.dropout(self.tok_emb(idx))


@mistake(of="GPT.embed")
def sinusoids_not_added(self, idx, right=GPT.embed):
    """These are exactly the numbers you get when the sinusoids are not added: that kind acts at the embeddings, not
    inside attention."""
    return right(self, idx) if self.positions is not None else self.dropout(self.tok_emb(idx))


@mistake(of="GPT.embed")
def positions_begin_at_one(self, idx, right=GPT.embed):
    """These are exactly the numbers you get when the first token stands at position 1: rows are counted from 0, and a
    text of block_size tokens would need a row that is not there."""
    if self.positions is None:
        return right(self, idx)
    table, T = next(iter(self.positions.parameters())), idx.shape[-1]
    if table.shape[0] < T:
        raise ValueError(f"idx has T = {T} tokens, more than block_size = {table.shape[0]}")
    return self.dropout(self.tok_emb(idx) + F.embedding(torch.arange(1, T + 1, device=idx.device), table))


@mistake(of="GPT.embed")
def positions_wrap_around(self, idx, right=GPT.embed):
    """Beyond block_size your positions begin again at 0: the model is told that the last token is the first. Refuse the
    text with its length."""
    if self.positions is None:
        return right(self, idx)
    table = next(iter(self.positions.parameters()))
    places = torch.arange(idx.shape[-1], device=idx.device) % table.shape[0]
    return self.dropout(self.tok_emb(idx) + F.embedding(places, table))


@mistake(of="GPT.embed")
def positions_clamped(self, idx, right=GPT.embed):
    """Beyond block_size all of your tokens stand in the last place: the model can no longer tell their order. Refuse the
    text with its length."""
    if self.positions is None:
        return right(self, idx)
    table = next(iter(self.positions.parameters()))
    places = torch.arange(idx.shape[-1], device=idx.device).clamp(max=table.shape[0] - 1)
    return self.dropout(self.tok_emb(idx) + F.embedding(places, table))


@mistake(of="GPT.embed")
def too_long_is_cropped(self, idx, right=GPT.embed):
    """Your model quietly drops what is beyond block_size: whoever asked for T rows of scores gets fewer. Refuse the text
    with its length; generate is where the context is cut."""
    return right(self, idx if self.positions is None else idx[:, -self.config.block_size :])


@mistake(of="GPT.embed")
def too_long_always_refused(self, idx, right=GPT.embed):
    """Your model refuses a long text with every kind of positions: only a learned table ends, the others are defined at
    any length."""
    if idx.shape[-1] > self.config.block_size:
        raise ValueError(f"idx has T = {idx.shape[-1]} tokens, more than block_size = {self.config.block_size}")
    return right(self, idx)


@mistake(of="GPT.embed")
def embeddings_scaled_by_the_root(self, idx):
    """These are exactly the numbers you get when the vectors of tokens are multiplied by sqrt(d): the first transformer
    did that, GPT-2 does not."""
    x = self.tok_emb(idx) * self.config.d_model**0.5
    if self.positions is not None:
        x = self.positions(x)
    elif self.config.positions == "sinusoidal":
        x = x + sinusoidal_positions(idx.shape[-1], self.config.d_model).to(x)
    return self.dropout(x)


@mistake(of="GPT.embed")
def no_dropout_on_embeddings(self, idx):
    """Nothing is dropped from the sum of embeddings in train mode: that is the one of the three places which belongs to
    the model itself."""
    x = self.tok_emb(idx)
    if self.positions is not None:
        x = self.positions(x)
    elif self.config.positions == "sinusoidal":
        x = x + sinusoidal_positions(idx.shape[-1], self.config.d_model).to(x)
    return x


@mistake(of="GPT.embed")
def dropout_before_positions(self, idx):
    """Dropout takes from the vectors of tokens before the positions are added: it should take from the sum."""
    x = self.dropout(self.tok_emb(idx))
    if self.positions is not None:
        x = self.positions(x)
    elif self.config.positions == "sinusoidal":
        x = x + sinusoidal_positions(idx.shape[-1], self.config.d_model).to(x)
    return x


@mistake(of="GPT.embed")
def dropout_also_in_eval_mode(self, idx):
    """Two passes in eval mode differ: F.dropout drops always, unless it is told that training is over; nn.Dropout knows
    by itself."""
    x = self.tok_emb(idx)
    if self.positions is not None:
        x = self.positions(x)
    elif self.config.positions == "sinusoidal":
        x = x + sinusoidal_positions(idx.shape[-1], self.config.d_model).to(x)
    return F.dropout(x, self.config.dropout)


@mistake(of="GPT.embed")
def sinusoids_keep_their_dtype(self, idx, right=GPT.embed):
    """The sinusoids are float32 and stay so: added to half-precision embeddings they make a float32 sum, which the next
    layer refuses. Convert them to the embeddings' dtype."""
    if self.config.positions != "sinusoidal":
        return right(self, idx)
    x = self.tok_emb(idx)
    return self.dropout(x + sinusoidal_positions(idx.shape[-1], self.config.d_model).to(x.device))


@mistake(of="GPT.embed")
def sinusoids_stay_on_the_cpu(self, idx, right=GPT.embed):
    """The sinusoids are made on the CPU and stay there: on another device they cannot be added. Move them to where the
    embeddings are."""
    if self.config.positions != "sinusoidal":
        return right(self, idx)
    x = self.tok_emb(idx)
    return self.dropout(x + sinusoidal_positions(idx.shape[-1], self.config.d_model).to(x.dtype))


# The middle and the top


@mistake(of="GPT.forward")
def last_layernorm_not_applied(self, idx):
    """These are exactly the numbers you get when ln_f is made and not applied: the last block's output goes into the
    output layer as it is."""
    x = self.embed(idx)
    for block in self.blocks:
        x = block(x)
    return self.lm_head(x)


@mistake(of="GPT.forward")
def last_layernorm_before_the_blocks(self, idx):
    """These are exactly the numbers you get when ln_f stands before the blocks: it stands after the last one, where
    nobody has normalised the sum."""
    x = self.ln_f(self.embed(idx))
    for block in self.blocks:
        x = block(x)
    return self.lm_head(x)


@mistake(of="GPT.forward")
def softmax_in_the_model(self, idx, right=GPT.forward):
    """These are exactly the probabilities that belong to your logits: the loss and generate take the softmax themselves,
    and twice is once too often."""
    return right(self, idx).softmax(dim=-1)


@mistake(of="GPT.forward")
def log_softmax_in_the_model(self, idx, right=GPT.forward):
    """These are exactly the logarithms of the probabilities: the loss is the same, and yet the contract asks for the
    scores as the output layer gives them."""
    return right(self, idx).log_softmax(dim=-1)


@mistake(of="GPT.forward")
def only_last_scores_returned(self, idx, right=GPT.forward):
    """Your model returns the scores of the last position only: training learns from every position at once, and
    generate takes the last by itself."""
    return right(self, idx)[:, -1:]


@mistake(of="GPT.forward")
def last_block_skipped(self, idx):
    """These are exactly the numbers you get when the last block is left out: a loop that ends one too early."""
    x = self.embed(idx)
    for block in self.blocks[:-1]:
        x = block(x)
    return self.lm_head(self.ln_f(x))


@mistake(of="GPT.forward")
def blocks_in_reverse(self, idx):
    """These are exactly the numbers you get when the last block comes first."""
    x = self.embed(idx)
    for block in reversed(self.blocks):
        x = block(x)
    return self.lm_head(self.ln_f(x))


@mistake(of="GPT.forward")
def first_block_repeated(self, idx):
    """These are exactly the numbers you get when the first block runs n_layers times: the loop calls the same one."""
    x = self.embed(idx)
    for _ in self.blocks:
        x = self.blocks[0](x)
    return self.lm_head(self.ln_f(x))


@mistake(of="GPT.forward")
def blocks_read_the_embeddings_only(self, idx):
    """These are exactly the numbers you get when every block is given the embeddings and the last result is kept: each
    block must read what the one before it made."""
    x = embedded = self.embed(idx)
    for block in self.blocks:
        x = block(embedded)
    return self.lm_head(self.ln_f(x))


@mistake(of="GPT.forward")
def blocks_added_to_their_input(self, idx):
    """These are exactly the numbers you get when x is added around each block once more: the additions are inside the
    block already."""
    x = self.embed(idx)
    for block in self.blocks:
        x = x + block(x)
    return self.lm_head(self.ln_f(x))


@mistake(of="GPT.forward")
def positions_added_before_every_block(self, idx):
    """These are exactly the numbers you get when positions are added before every block: they are added once, at the
    bottom, and ride along."""
    x = self.embed(idx)
    for number, block in enumerate(self.blocks):
        x = block(self.positions(x) if number > 0 and self.positions is not None else x)
    return self.lm_head(self.ln_f(x))


@mistake(of="GPT.forward")
def output_layer_cut_from_the_table(self, idx):
    """Your logits are right, but the shared table gets no gradient from the output layer: it is used there as a
    constant, and learns from its rows as input only."""
    x = self.embed(idx)
    for block in self.blocks:
        x = block(x)
    weight = self.lm_head.weight
    return F.linear(self.ln_f(x), weight.detach() if self.config.tie_weights else weight)


# Writing: what the model is asked


@mistake(of="generate")
def oldest_tokens_kept(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """This is exactly the text you get when the context is the first block_size tokens: what was just written lies
    behind the cut, and the model is asked the same question for ever."""
    for _ in range(max_new_tokens):
        context = idx[:, : model.config.block_size]
        idx = torch.cat([idx, right(model, context, 1, temperature, top_k, generator)[:, -1:]], dim=1)
    return idx


@mistake(of="generate")
def context_not_cut(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """This is exactly the text you get when the whole text is the context, however long: beyond block_size a model with
    learned positions refuses, and any other is on ground it was not trained for."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(idx)[:, -1]
            if temperature == 0:
                chosen = scores.argmax(dim=-1, keepdim=True)
            else:
                scores = scores / temperature
                if top_k is not None and top_k < scores.shape[-1]:
                    scores = scores.masked_fill(scores < scores.topk(top_k).values[:, -1:], float("-inf"))
                chosen = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx


@mistake(of="generate")
def context_one_token_short(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """This is exactly the text you get when the context is one token shorter than block_size: the model can read that
    one too."""
    for _ in range(max_new_tokens):
        context = idx[:, 1 - model.config.block_size :]
        idx = torch.cat([idx, right(model, context, 1, temperature, top_k, generator)[:, -1:]], dim=1)
    return idx


@mistake(of="generate")
def only_newest_token_read(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """This is exactly the text you get when the model is shown nothing but the newest token: it keeps nothing from call
    to call, so it must be shown its context each time."""
    for _ in range(max_new_tokens):
        idx = torch.cat([idx, right(model, idx[:, -1:], 1, temperature, top_k, generator)[:, -1:]], dim=1)
    return idx


@mistake(of="generate")
def prompt_read_once(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """This is exactly the text you get when every new token is chosen from the prompt alone: what was chosen must be put
    at the end before the next question."""
    chosen = [right(model, idx, 1, temperature, top_k, generator)[:, -1:] for _ in range(max_new_tokens)]
    return torch.cat([idx, *chosen], dim=1)


@mistake(of="generate")
def scores_of_the_first_position(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """This is exactly the text you get from the scores of the context's first position: what comes after the end is in
    the last row."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(idx[:, -model.config.block_size :])[:, 0]
            if temperature == 0:
                chosen = scores.argmax(dim=-1, keepdim=True)
            else:
                scores = scores / temperature
                if top_k is not None and top_k < scores.shape[-1]:
                    scores = scores.masked_fill(scores < scores.topk(top_k).values[:, -1:], float("-inf"))
                chosen = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx


@mistake(of="generate")
def prompt_cut_with_the_context(
    model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate
):
    """Your text lacks its beginning: the cut is for what the model reads, and what is returned begins with the whole
    prompt."""
    for _ in range(max_new_tokens):
        idx = right(model, idx[:, -model.config.block_size :], 1, temperature, top_k, generator)
    return idx


@mistake(of="generate")
def prompt_not_returned(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """You return the new tokens only: the contract asks for the prompt and what follows it."""
    return right(model, idx, max_new_tokens, temperature, top_k, generator)[:, idx.shape[1] :]


@mistake(of="generate")
def one_token_too_many(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """Your text is one token longer than was asked for."""
    return right(model, idx, max_new_tokens + 1, temperature, top_k, generator)


# Writing: how a token is chosen


@mistake(of="generate")
def temperature_zero_divides(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """At temperature 0 you divide by it, and a softmax of infinities is NaN: that case is no limit to compute but a case
    to write, the largest score."""
    if temperature == 0 and max_new_tokens > 0:
        with torch.no_grad():
            scores = model(idx[:, -model.config.block_size :])[:, -1]
            torch.multinomial((scores / temperature).softmax(dim=-1), 1)
    return right(model, idx, max_new_tokens, temperature, top_k, generator)


@mistake(of="generate")
def temperature_zero_draws(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """At temperature 0 you draw as if nothing had been said: a number that is 0 counts as False. Temperature 0 takes the
    largest score."""
    return right(model, idx, max_new_tokens, temperature or 1.0, top_k, generator)


@mistake(of="generate")
def temperature_multiplied(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """These are the frequencies you get when the scores are multiplied by the temperature: below 1 the model should play
    safe, so differences must grow."""
    return right(model, idx, max_new_tokens, 1 / temperature if temperature else 0, top_k, generator)


@mistake(of="generate")
def temperature_ignored(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """These are the frequencies of temperature 1, whatever was asked for. Dividing the probabilities changes nothing: it
    is the scores that must be divided."""
    return right(model, idx, max_new_tokens, 1.0 if temperature else 0, top_k, generator)


@mistake(of="generate")
def temperature_rooted(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """These are the frequencies you get when the scores are divided by the root of the temperature: the root belongs to
    the width of queries, not to this."""
    return right(model, idx, max_new_tokens, temperature**0.5, top_k, generator)


@mistake(of="generate")
def always_argmax(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """Your text is the argmax at every temperature: only temperature 0 takes the largest score, all others draw."""
    return right(model, idx, max_new_tokens, 0, top_k, generator)


@mistake(of="generate")
def softmax_twice(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """These are the frequencies you get when the softmax is taken twice: probabilities, taken as scores, are nearly
    equal, and so are your tokens."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(idx[:, -model.config.block_size :])[:, -1]
            if temperature == 0:
                chosen = scores.argmax(dim=-1, keepdim=True)
            else:
                scores = scores / temperature
                keep = scores >= scores.topk(min(top_k or scores.shape[-1], scores.shape[-1])).values[:, -1:]
                chances = scores.masked_fill(~keep, float("-inf")).softmax(dim=-1)
                chances = chances.masked_fill(~keep, float("-inf")).softmax(dim=-1)
                chosen = torch.multinomial(chances, 1, generator=generator)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx


@mistake(of="generate")
def scores_used_as_chances(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """You draw from the scores as they are: they are negative as often as not. A softmax makes chances of them."""
    if temperature != 0 and max_new_tokens > 0:
        with torch.no_grad():
            torch.multinomial(model(idx[:, -model.config.block_size :])[:, -1] / temperature, 1)
    return right(model, idx, max_new_tokens, temperature, top_k, generator)


@mistake(of="generate")
def top_k_ignored(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """These are the frequencies of all tokens, as if top_k had not been given."""
    return right(model, idx, max_new_tokens, temperature, None, generator)


@mistake(of="generate")
def top_k_keeps_one_more(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """These are the frequencies you get when one token more than top_k is kept: the threshold is the k-th largest score,
    and what equals it stays."""
    return right(model, idx, max_new_tokens, temperature, None if top_k is None else top_k + 1, generator)


@mistake(of="generate")
def top_k_keeps_one_less(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """These are the frequencies you get when one token fewer than top_k is kept: the k-th largest itself stays."""
    fewer = top_k if top_k is None or top_k == 1 else min(top_k, model.config.vocab_size) - 1
    return right(model, idx, max_new_tokens, temperature, fewer, generator)


@mistake(of="generate")
def top_k_keeps_the_smallest(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """These are the frequencies you get when the k smallest scores are kept: an ascending order was cut at its wrong
    end."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(idx[:, -model.config.block_size :])[:, -1]
            if temperature == 0:
                chosen = scores.argmax(dim=-1, keepdim=True)
            else:
                scores = scores / temperature
                if top_k is not None and top_k < scores.shape[-1]:
                    largest_kept = scores.topk(top_k, largest=False).values[:, -1:]
                    scores = scores.masked_fill(scores > largest_kept, float("-inf"))
                chosen = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx


@mistake(of="generate")
def dropped_scores_become_zero(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """These are the frequencies you get when dropped tokens have a score of 0: the softmax gives that a share like any
    other, and only minus infinity gets none."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(idx[:, -model.config.block_size :])[:, -1]
            if temperature == 0:
                chosen = scores.argmax(dim=-1, keepdim=True)
            else:
                scores = scores / temperature
                if top_k is not None and top_k < scores.shape[-1]:
                    scores = scores.masked_fill(scores < scores.topk(top_k).values[:, -1:], 0.0)
                chosen = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx


@mistake(of="generate")
def top_k_draws_evenly(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """These are the frequencies you get when the k largest are drawn with equal chances: what remains keeps its old
    proportions."""
    if top_k is None or temperature == 0:
        return right(model, idx, max_new_tokens, temperature, top_k, generator)
    return right(model, idx, max_new_tokens, 1e6, top_k, generator)


@mistake(of="generate")
def top_k_above_the_vocabulary_fails(
    model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate
):
    """A top_k larger than the vocabulary is handed to torch.topk, which refuses it: such a top_k drops nothing, and that
    is all."""
    if top_k is not None and temperature != 0:
        with torch.no_grad():
            model(idx[:, -model.config.block_size :])[:, -1].topk(top_k)
    return right(model, idx, max_new_tokens, temperature, top_k, generator)


@mistake(of="generate")
def threshold_of_the_first_row(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """These are the frequencies you get when the first row's k-th largest score is the threshold of all rows: each row
    has its own scores, and a threshold of its own."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(idx[:, -model.config.block_size :])[:, -1]
            if temperature == 0:
                chosen = scores.argmax(dim=-1, keepdim=True)
            else:
                scores = scores / temperature
                if top_k is not None and top_k < scores.shape[-1]:
                    threshold = scores[0].topk(top_k).values[-1].minimum(scores.amax(dim=-1, keepdim=True))
                    scores = scores.masked_fill(scores < threshold, float("-inf"))
                chosen = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
            idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx


@mistake(of="generate")
def first_row_drawn_for_all(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """All rows of your batch get the token that was drawn for the first: each row is a text of its own, with a draw of
    its own."""
    for _ in range(max_new_tokens):
        chosen = right(model, idx[:1], 1, temperature, top_k, generator)[:, -1:]
        idx = torch.cat([idx, chosen.expand(idx.shape[0], 1)], dim=1)
    return idx


@mistake(of="generate")
def generator_ignored(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """Your draws come from torch's global generator although another one was given: pass it on to whatever draws."""
    return right(model, idx, max_new_tokens, temperature, top_k, None)


@mistake(of="generate")
def generator_seeds_the_global_one(
    model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate
):
    """You seed torch's global generator from the one that was given: everybody else's random numbers then begin anew as
    well. Draw from the given one itself."""
    if generator is not None:
        torch.manual_seed(generator.initial_seed())
    return right(model, idx, max_new_tokens, temperature, top_k, None)


@mistake(of="generate")
def generator_set_back(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """You set the generator back to its seed at each call: two texts from one generator are then the same. It moves on by
    itself, and should."""
    if generator is not None:
        generator.manual_seed(generator.initial_seed())
    return right(model, idx, max_new_tokens, temperature, top_k, generator)


@mistake(of="generate")
def new_generator_for_each_call(
    model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate
):
    """Without a generator you make a new one at each call, and a new one always begins with the same seed: every text is
    the same. None means torch's global one."""
    return right(model, idx, max_new_tokens, temperature, top_k, generator or torch.Generator())


# Writing: how the model is left


@mistake(of="generate")
def written_in_train_mode(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """Your model is in train mode while it writes: dropout then damages every step. Switch to eval mode, and back to what
    it was."""
    with torch.no_grad():
        for _ in range(max_new_tokens):
            scores = model(idx[:, -model.config.block_size :])[:, -1]
            if temperature == 0:
                chosen = scores.argmax(dim=-1, keepdim=True)
            else:
                scores = scores / temperature
                if top_k is not None and top_k < scores.shape[-1]:
                    scores = scores.masked_fill(scores < scores.topk(top_k).values[:, -1:], float("-inf"))
                chosen = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
            idx = torch.cat([idx, chosen], dim=1)
    return idx


@mistake(of="generate")
def left_in_eval_mode(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """Your model stays in eval mode: whoever was training it trains on without dropout, and is not told."""
    model.eval()
    return right(model, idx, max_new_tokens, temperature, top_k, generator)


@mistake(of="generate")
def left_in_train_mode(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None, right=generate):
    """Your model is always in train mode afterwards, also if it came in eval mode: restore what was there."""
    text = right(model, idx, max_new_tokens, temperature, top_k, generator)
    model.train()
    return text


@mistake(of="generate")
def gradients_kept(model, idx, max_new_tokens, temperature=1.0, top_k=None, generator=None):
    """Your scores carry a gradient: every step keeps its activations for a backward pass that never comes, and memory
    grows with the text."""
    was_training = model.training
    model.eval()
    for _ in range(max_new_tokens):
        scores = model(idx[:, -model.config.block_size :])[:, -1]
        if temperature == 0:
            chosen = scores.argmax(dim=-1, keepdim=True)
        else:
            scores = scores / temperature
            if top_k is not None and top_k < scores.shape[-1]:
                scores = scores.masked_fill(scores < scores.topk(top_k).values[:, -1:], float("-inf"))
            chosen = torch.multinomial(scores.softmax(dim=-1), 1, generator=generator)
        idx = torch.cat([idx, chosen], dim=1)
    model.train(was_training)
    return idx


# The bill: memory


@mistake(of="attention_matrix_bytes")
def bytes_of_one_head(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """These are exactly the bytes of one head: every head has a matrix of its own."""
    return batch * n_tokens**2 * bytes_per_element


@mistake(of="attention_matrix_bytes")
def bytes_of_one_text(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """These are exactly the bytes of one text: every text of the batch has its own matrices."""
    return n_heads * n_tokens**2 * bytes_per_element


@mistake(of="attention_matrix_bytes")
def tokens_not_squared(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """These are exactly the bytes of one number for each token: a score belongs to a pair of them, so the tokens count
    twice."""
    return batch * n_heads * n_tokens * bytes_per_element


@mistake(of="attention_matrix_bytes")
def numbers_in_place_of_bytes(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """This is exactly how many scores there are: each of them takes bytes_per_element bytes."""
    return batch * n_heads * n_tokens**2


@mistake(of="attention_matrix_bytes")
def bytes_always_of_float32(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """These are exactly the bytes of float32 scores, whatever bytes_per_element says."""
    return batch * n_heads * n_tokens**2 * 4


@mistake(of="attention_matrix_bytes")
def scores_and_weights_counted(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """These are exactly the bytes of the scores and of the weights: the contract asks for one tensor."""
    return 2 * batch * n_heads * n_tokens**2 * bytes_per_element


@mistake(of="attention_matrix_bytes")
def lower_triangle_counted(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """These are exactly the bytes of the scores that a causal mask allows: the product fills the whole matrix first."""
    return batch * n_heads * n_tokens * (n_tokens + 1) // 2 * bytes_per_element


@mistake(of="attention_matrix_bytes")
def bits_in_place_of_bytes(n_tokens, n_heads, batch=1, bytes_per_element=4):
    """This is exactly the number of bits: a byte has eight of them."""
    return 8 * batch * n_heads * n_tokens**2 * bytes_per_element


@mistake(of="attention_matrix_bytes")
def bytes_as_a_float(n_tokens, n_heads, batch=1, bytes_per_element=4, right=attention_matrix_bytes):
    """Your number is right and it is a float: bytes are whole, and the contract asks for an int."""
    return float(right(n_tokens, n_heads, batch, bytes_per_element))


# The bill: arithmetic


@mistake(of="flops_per_token")
def multiplications_only(config, right=flops_per_token):
    """This is exactly half of it: a multiplication and the addition that goes with it count as two."""
    return right(config) // 2


@mistake(of="flops_per_token")
def products_without_weights_forgotten(config, right=flops_per_token):
    """This is exactly the number without scores and mix: two products have no weights in them, and they grow with the
    context."""
    return right(config) - config.n_layers * 4 * config.block_size * config.d_model


@mistake(of="flops_per_token")
def mix_forgotten(config, right=flops_per_token):
    """This is exactly the number with scores and without the mix, or the other way round: weights times values is a
    product of the same size."""
    return right(config) - config.n_layers * 2 * config.block_size * config.d_model


@mistake(of="flops_per_token")
def output_layer_forgotten(config, right=flops_per_token):
    """This is exactly the number without the output layer: every token meets the whole table there."""
    return right(config) - 2 * config.vocab_size * config.d_model


@mistake(of="flops_per_token")
def output_layer_free_where_tied(config, right=flops_per_token):
    """This is exactly the number when a tied output layer costs nothing: sharing the table saves parameters and not a
    single multiplication."""
    return right(config) - (2 * config.vocab_size * config.d_model if config.tie_weights else 0)


@mistake(of="flops_per_token")
def lookup_counted_as_a_product(config, right=flops_per_token):
    """This is exactly the number when the embedding is a product with the table as well: it is a look-up, one row is
    copied."""
    return right(config) + 2 * config.vocab_size * config.d_model


@mistake(of="flops_per_token")
def output_projection_forgotten(config, right=flops_per_token):
    """This is exactly the number when attention has three matrices: queries, keys, values, and the output projection."""
    return right(config) - config.n_layers * 2 * config.d_model**2


@mistake(of="flops_per_token")
def one_matrix_of_the_mlp_forgotten(config, right=flops_per_token):
    """This is exactly the number when the MLP has one matrix: it goes up to 4d and comes back."""
    return right(config) - config.n_layers * 8 * config.d_model**2


@mistake(of="flops_per_token")
def one_block_only(config, right=flops_per_token):
    """This is exactly the number of a model with one block: there are n_layers of them."""
    head = 2 * config.vocab_size * config.d_model
    return (right(config) - head) // config.n_layers + head


@mistake(of="flops_per_token")
def whole_context_not_divided(config, right=flops_per_token):
    """This is exactly the number for the whole context: divided by its block_size tokens it is that of one."""
    return right(config) * config.block_size


@mistake(of="flops_per_token")
def half_of_the_scores(config, right=flops_per_token):
    """This is exactly the number when only pairs that the mask allows are counted: the products are computed in full,
    the mask comes after."""
    return right(config) - config.n_layers * 2 * (config.block_size - 1) * config.d_model


@mistake(of="flops_per_token")
def scores_counted_at_full_width_for_each_head(config, right=flops_per_token):
    """This is exactly the number when every head's scores and mix are as wide as the model: a head has d_head columns,
    and n_heads of them make d."""
    return right(config) + (config.n_heads - 1) * config.n_layers * 4 * config.block_size * config.d_model


@mistake(of="flops_per_token")
def backward_pass_counted(config, right=flops_per_token):
    """This is exactly three times the number, the cost of a step of training: the contract asks for the forward pass."""
    return 3 * right(config)


@mistake(of="flops_per_token")
def two_for_each_parameter(config, count=count_parameters):
    """This is exactly twice the number of parameters: a rule of thumb that counts a table of positions, biases and norms
    as products, and leaves out the two products that have no weights."""
    return 2 * count(config)["total"]


@mistake(of="flops_per_token")
def operations_as_a_float(config, right=flops_per_token):
    """Your number is right and it is a float: / makes one, // does not, and here nothing is left over."""
    return float(right(config))
