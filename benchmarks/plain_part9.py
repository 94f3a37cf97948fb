"""Part 9's transformer of one block without a graph: every gradient written by hand, with the same operations."""

import math

import numpy as np

_C, _CUBIC = math.sqrt(2 / math.pi), 0.044715


def loss_and_grads(
    p: dict[str, np.ndarray], idx: np.ndarray, targets: np.ndarray, n_heads: int
) -> tuple[float, dict[str, np.ndarray]]:
    """Run the transformer forwards and backwards.

    Args:
        p: Parameters, named as part 9 names them, of one block.
        idx: Ids, int (B, T).
        targets: The token after each position, int (B, T).
        n_heads: Heads.

    Returns:
        The mean loss in nats, and its gradient with respect to each parameter, by name.
    """
    (B, T), E = idx.shape, p["tok_emb"].shape[1]
    d = E // n_heads
    own = {name.removeprefix("blocks.0."): array for name, array in p.items()}

    def to_heads(rows: np.ndarray) -> np.ndarray:
        return rows.reshape(B, T, n_heads, d).swapaxes(1, 2)

    def to_rows(heads: np.ndarray) -> np.ndarray:
        return heads.swapaxes(1, 2).reshape(B * T, E)

    x0 = (p["tok_emb"][idx] + p["pos_emb"][:T]).reshape(B * T, E)
    normed1, hat1, scale1 = _norm(x0, own["ln1.weight"], own["ln1.bias"])
    q, k, v = (to_heads(normed1 @ own[name]) for name in "qkv")  # (B, h, T, d)
    q = q * d**-0.5
    allowed = np.tri(T, dtype=bool)
    scores = np.where(allowed, q @ k.swapaxes(-1, -2), -np.inf)  # (B, h, T, T)
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares = grown / grown.sum(axis=-1, keepdims=True)
    mixed = to_rows(shares @ v)
    x1 = x0 + mixed @ own["proj"]
    normed2, hat2, scale2 = _norm(x1, own["ln2.weight"], own["ln2.bias"])
    wide = normed2 @ own["up"] + own["up_bias"]  # (B * T, 4E)
    t = np.tanh(wide * (_C + _C * _CUBIC * (wide * wide)))
    bent = 0.5 * wide * (1 + t)
    x2 = x1 + (bent @ own["down"] + own["down_bias"])
    normed3, hat3, scale3 = _norm(x2, p["ln_f.weight"], p["ln_f.bias"])
    logits = normed3 @ p["tok_emb"].T  # (B * T, V)
    row, came = np.arange(B * T), targets.reshape(-1)
    shifted = logits - logits.max(axis=-1, keepdims=True)
    chances = np.exp(shifted)
    totals = chances.sum(axis=-1, keepdims=True)
    chances /= totals
    loss = float((np.log(totals)[:, 0] - shifted[row, came]).mean())

    g: dict[str, np.ndarray] = {}
    d_logits = chances * (1 / (B * T))
    d_logits[row, came] -= 1 / (B * T)
    d_tokens = d_logits.T @ normed3  # of the table where it scores; where it is looked up comes last
    d_x2, g["ln_f.weight"], g["ln_f.bias"] = _norm_back(d_logits @ p["tok_emb"], hat3, scale3, p["ln_f.weight"])
    d_bent = d_x2 @ own["down"].T
    g["blocks.0.down"], g["blocks.0.down_bias"] = bent.T @ d_x2, d_x2.sum(axis=0)
    d_wide = d_bent * (0.5 * (1 + t) + 0.5 * wide * (1 - t * t) * (_C + 3 * _C * _CUBIC * (wide * wide)))
    g["blocks.0.up"], g["blocks.0.up_bias"] = normed2.T @ d_wide, d_wide.sum(axis=0)
    d_branch, g["blocks.0.ln2.weight"], g["blocks.0.ln2.bias"] = _norm_back(
        d_wide @ own["up"].T, hat2, scale2, own["ln2.weight"]
    )
    d_x1 = d_x2 + d_branch
    g["blocks.0.proj"] = mixed.T @ d_x1
    d_mixed = to_heads(d_x1 @ own["proj"].T)
    d_shares, d_v = d_mixed @ v.swapaxes(-1, -2), shares.swapaxes(-1, -2) @ d_mixed
    d_scores = shares * (d_shares - (d_shares * shares).sum(axis=-1, keepdims=True))
    d_scores = np.where(allowed, d_scores, 0.0)
    d_q, d_k = (d_scores @ k) * d**-0.5, d_scores.swapaxes(-1, -2) @ q
    d_normed1 = np.zeros_like(normed1)
    for name, d_heads in (("q", d_q), ("k", d_k), ("v", d_v)):
        d_rows = to_rows(d_heads)
        g[f"blocks.0.{name}"] = normed1.T @ d_rows
        d_normed1 += d_rows @ own[name].T
    d_branch, g["blocks.0.ln1.weight"], g["blocks.0.ln1.bias"] = _norm_back(d_normed1, hat1, scale1, own["ln1.weight"])
    d_x0 = (d_x1 + d_branch).reshape(B, T, E)
    g["pos_emb"] = np.zeros_like(p["pos_emb"])
    g["pos_emb"][:T] = d_x0.sum(axis=0)
    np.add.at(d_tokens, idx, d_x0)
    g["tok_emb"] = d_tokens
    return loss, g


def _norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    centred = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-5)
    hat = centred * scale
    return hat * weight + bias, hat, scale


def _norm_back(
    upstream: np.ndarray, hat: np.ndarray, scale: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u = upstream * weight
    shift, stretch = u.mean(axis=-1, keepdims=True), (u * hat).mean(axis=-1, keepdims=True)
    return scale * (u - shift - hat * stretch), (upstream * hat).sum(axis=0), upstream.sum(axis=0)
