"""Right solutions in other words: equal by mathematics, so each keeps full marks."""

import itertools
import math

import numpy as np
from part9_engine import Tensor, unbroadcast

from autograder.checks import equivalent

# Level 1


@equivalent(of="bigram_counts")
def product_of_one_hot_matrices(ids, vocab_size):
    """Let a matrix product count: what stands at (a, b) is how often row a met column b."""
    one_hot = np.eye(vocab_size)[ids]
    return one_hot[:-1].T @ one_hot[1:]


@equivalent(of="bigram_counts")
def pair_by_pair(ids, vocab_size):
    """Walk through the text; whole numbers."""
    counts = np.zeros((vocab_size, vocab_size), dtype=np.int64)
    for this, following in itertools.pairwise(ids):
        counts[this, following] += 1
    return counts


@equivalent(of="bigram_nll")
def kinds_of_pairs_weighed_by_their_number(counts, ids, smoothing=1.0):
    """Count the text's own pairs, and weigh the surprise of each kind; logarithm of a quotient as a difference."""
    surprise = np.log(counts.sum(axis=1) + smoothing * len(counts))[:, None] - np.log(counts + smoothing)
    kinds, number = np.unique(np.stack([ids[:-1], ids[1:]]), axis=1, return_counts=True)
    return np.average(surprise[kinds[0], kinds[1]], weights=number).item()


# Level 2


@equivalent(of="WindowMLP.loss_and_grads")
def one_hot_throughout(self, x, y):
    """Look up, and go back, by products with one-hot matrices; log of the sum by numpy's logaddexp."""
    p, one_hot = self.params, np.eye(len(self.params["E"]))
    N, window = x.shape
    features = (one_hot[x] @ p["E"]).reshape(N, -1)
    hidden = np.tanh(features.dot(p["W1"]) + p["b1"])
    scores = np.einsum("nh,hv->nv", hidden, p["W2"]) + p["b2"]
    log_p = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
    d_scores = (np.exp(log_p) - one_hot[y]) / N
    d_before = np.einsum("nv,hv->nh", d_scores, p["W2"]) * (1 - np.square(hidden))
    d_read = np.einsum("nh,fh->nf", d_before, p["W1"]).reshape(N, window, -1)
    return -np.sum(one_hot[y] * log_p) / N, {
        "E": np.einsum("nwv,nwd->vd", one_hot[x], d_read),
        "W1": np.einsum("nf,nh->fh", features, d_before),
        "b1": np.ones(N) @ d_before,
        "W2": np.einsum("nh,nv->hv", hidden, d_scores),
        "b2": np.ones(N) @ d_scores,
    }


@equivalent(of="WindowMLP.loss_and_grads")
def one_window_at_a_time(self, x, y):
    """Take each window alone, last one first, and add its outer products up."""
    p, loss = self.params, 0.0
    grads = {name: np.zeros_like(array) for name, array in p.items()}
    for window, answer in zip(x[::-1], y[::-1], strict=True):
        f = np.concatenate([p["E"][token] for token in window])
        g = np.tanh(p["W1"].T @ f + p["b1"])
        s = p["W2"].T @ g + p["b2"]
        top = s.max()
        chances = np.exp(s - top) / np.exp(s - top).sum()
        loss += (top + math.log(np.exp(s - top).sum()) - s[answer]) / len(y)
        ds = chances / len(y)
        ds[answer] -= 1 / len(y)
        da = (p["W2"] @ ds) * (1 - g) * (1 + g)
        grads["W2"] += np.outer(g, ds)
        grads["b2"] += ds
        grads["W1"] += np.outer(f, da)
        grads["b1"] += da
        for token, de in zip(window, np.split(p["W1"] @ da, len(window)), strict=True):
            grads["E"][token] += de
    return float(loss), grads


# Level 3: the engine


@equivalent(of="Tensor.backward_all")
def turn_when_all_users_have_sent(self):
    """Count for each node how often it was used; it has its turn when that many gradients have arrived."""
    if self.data.ndim:
        raise ValueError(f"not a scalar but {self.data.shape}")
    uses, found = {id(self): 0}, [self]
    for node in found:
        for parent in node._parents:
            if id(parent) not in uses:
                uses[id(parent)] = 0
                found.append(parent)
            uses[id(parent)] += 1
    arrived, ready = {id(node): np.zeros_like(node.data) for node in found}, [self]
    arrived[id(self)] = np.ones_like(self.data)
    while ready:
        node = ready.pop()
        sent = () if node._backward is None else node._backward(arrived[id(node)])
        for parent, gradient in zip(node._parents, sent, strict=True):
            arrived[id(parent)] = arrived[id(parent)] + gradient
            uses[id(parent)] -= 1
            if not uses[id(parent)]:
                ready.append(parent)
    for node in found:
        node.grad = node.grad + arrived[id(node)]


@equivalent(of="Tensor.backward_all")
def arrivals_kept_in_lists_and_added_at_the_end(self):
    """Enter each node twice, before and after its parents; keep what arrives in a list, and add the last one first."""
    if self.data.shape:
        raise ValueError(f"backward_all: shape {self.data.shape} is not ()")
    order, entered, stack = [], set(), [(self, False)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            order.append(node)
        elif node not in entered:
            entered.add(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent in node._parents)
    arrivals = {node: [] for node in order}
    arrivals[self].append(np.array(1, dtype=self.data.dtype))
    while order:
        node = order.pop()
        upstream = np.zeros(node.data.shape, node.data.dtype)
        for gradient in reversed(arrivals[node]):
            upstream = upstream + gradient
        node.grad = upstream + node.grad
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(upstream), strict=True):
                arrivals[parent].append(gradient)


@equivalent(of="unbroadcast")
def one_axis_after_the_other(gradient, shape):
    """Sum the first axis away until there are as many as before, then those of length 1."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis in [axis for axis, size in enumerate(shape) if size == 1]:
        gradient = gradient.sum(axis=axis, keepdims=True)
    return gradient


@equivalent(of="unbroadcast")
def einsum_over_named_axes(gradient, shape):
    """Name the axes; those that the array did not have, or had with length 1, are missing in the result."""
    first = gradient.ndim - len(shape)
    kept = [first + axis for axis, size in enumerate(shape) if size != 1]
    return np.einsum(gradient, list(range(gradient.ndim)), kept).reshape(shape)


# Level 3: the operations


@equivalent(of="Tensor.mul")
def einsum_in_the_product(self, other):
    """A number becomes a tensor that nobody keeps; both products by einsum."""
    if not isinstance(other, Tensor):
        other = Tensor(np.full((1,) * self.data.ndim, other, dtype=self.data.dtype))
    a, b = self.data, other.data
    return Tensor(
        np.multiply(a, b),
        (other, self),
        lambda u: (
            unbroadcast(np.einsum("...,...->...", u, a), b.shape),
            unbroadcast(np.einsum("...,...->...", b, u), a.shape),
        ),
    )


@equivalent(of="Tensor.matmul")
def einsum_in_matmul(self, other):
    """Forward and back by einsum; the sum over a shared weight's batch by stacking."""
    a, b = self.data, other.data
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise ValueError(f"{a.shape} times {b.shape}")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(f"{a.shape} times {b.shape}: the leading axes") from None

    def back(u):
        d_a = np.einsum("...nm,...km->...nk", u, b)
        if b.ndim == 2:
            d_b = a.reshape(-1, a.shape[-1]).T @ u.reshape(-1, u.shape[-1])
        else:
            d_b = np.einsum("...nk,...nm->...km", a, u)
        return unbroadcast(d_a, a.shape), unbroadcast(d_b, b.shape)

    return Tensor(np.einsum("...nk,...km->...nm", a, b), (self, other), back)


@equivalent(of="Tensor.rows")
def rows_as_a_one_hot_product(self, ids):
    """Go back by a product with a one-hot matrix, whatever axes a row has."""
    table, flat = self.data, np.ravel(ids)

    def back(u):
        one_hot = (np.arange(len(table))[:, None] == flat).astype(u.dtype)  # (rows, places)
        return ((one_hot @ u.reshape(len(flat), -1)).reshape(table.shape),)

    return Tensor(np.take(table, ids, axis=0), (self,), back)


@equivalent(of="Tensor.rows")
def rows_sorted_and_added_in_runs(self, ids):
    """Sort the places by id, and add up each run of one id."""
    table, flat = self.data, np.ravel(ids)
    order = np.argsort(flat, kind="stable")
    found, first = np.unique(flat[order], return_index=True)

    def back(u):
        collected = np.zeros_like(table)
        collected[found] = np.add.reduceat(u.reshape(len(flat), *table.shape[1:])[order], first, axis=0)
        return (collected,)

    return Tensor(table[np.asarray(ids)], (self,), back)


@equivalent(of="Tensor.tanh")
def tanh_slope_by_cosh(self):
    """One over cosh squared."""
    x = self.data
    return Tensor(np.tanh(x), (self,), lambda u: (u / np.square(np.cosh(np.clip(x, -40, 40))),))


@equivalent(of="Tensor.gelu")
def gelu_as_a_gate(self):
    """(1 + tanh z) / 2 is the sigmoid of 2z: a gate g, whose slope is g (1 - g)."""
    x = self.data
    two_z = 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    away = np.exp(-np.abs(two_z))  # never large
    gate = np.where(two_z >= 0, 1 / (1 + away), away / (1 + away))

    def back(u):
        slope_inside = math.sqrt(8 / math.pi) * (1 + 0.134145 * np.square(x))
        return (u * gate + u * x * gate * (1 - gate) * slope_inside,)

    return Tensor(x * gate, (self,), back)


@equivalent(of="Tensor.layer_norm")
def norm_by_way_of_variance_and_mean(self, weight, bias, eps=1e-5):
    """The variance's gradient first, then the mean's, then the row's; sums over rows by flattening; all in float64."""
    x, dtype = self.data.astype(np.float64), self.data.dtype
    n, centred = x.shape[-1], x - x.mean(-1, keepdims=True)
    root = np.sqrt(x.var(-1, keepdims=True) + eps)
    normed = centred / root

    def back(u):
        d_normed = u * weight.data
        d_var = (d_normed * centred).sum(-1, keepdims=True) * -0.5 / root**3
        d_mean = -(d_normed / root).sum(-1, keepdims=True) - 2 * d_var * centred.mean(-1, keepdims=True)
        d_x = d_normed / root + 2 * d_var * centred / n + d_mean / n
        flat = (u * normed).reshape(-1, n).sum(0), u.reshape(-1, n).sum(0)
        return tuple(each.astype(dtype) for each in (d_x, *flat))

    return Tensor((weight.data * normed + bias.data).astype(dtype), (self, weight, bias), back)


@equivalent(of="Tensor.layer_norm")
def norm_by_its_whole_jacobian(self, weight, bias, eps=1e-5):
    """Write the matrix down: one over sigma times (identity minus a mean minus an outer product)."""
    x, width = self.data, self.data.shape[-1]
    centred = x - x.mean(axis=-1, keepdims=True)
    sigma = (np.einsum("...e,...e->...", centred, centred) / width + eps)[..., None] ** 0.5
    hat = centred / sigma

    def back(u):
        outer = np.einsum("...i,...j->...ij", hat, hat)
        jacobian = (np.eye(width, dtype=x.dtype) - (1 + outer) / width) / sigma[..., None]
        leading = tuple(range(x.ndim - 1))
        return np.einsum("...i,...ij->...j", u * weight.data, jacobian), (u * hat).sum(leading), u.sum(leading)

    return Tensor(hat * weight.data + bias.data, (self, weight, bias), back)


@equivalent(of="Tensor.causal_mask")
def mask_added(self):
    """Add minus infinity above the diagonal; keep the lower triangle of what comes back."""
    T = self.data.shape[-1]
    above = np.triu(np.full((T, T), -np.inf, dtype=self.data.dtype), 1)
    return Tensor(self.data + above, (self,), lambda u: (np.tril(u),))


@equivalent(of="Tensor.softmax_rows")
def softmax_by_its_whole_jacobian(self):
    """Exponential of the log shares; back with the matrix diag(w) - w wT of each row."""
    log_total = np.logaddexp.reduce(self.data, axis=-1, keepdims=True)
    w = np.exp(self.data - log_total)

    def back(u):
        jacobian = (
            np.einsum("...i,ij->...ij", w, np.eye(w.shape[-1], dtype=w.dtype)) - w[..., :, None] * w[..., None, :]
        )
        return ((jacobian @ u[..., None])[..., 0],)

    return Tensor(w, (self,), back)


@equivalent(of="Tensor.cross_entropy")
def cross_entropy_from_log_shares(self, targets):
    """Flatten, take log shares by logaddexp, pick; go back with a one-hot matrix."""
    if not self.data.ndim or np.shape(targets) != self.data.shape[:-1]:
        raise ValueError(f"cross_entropy of {self.data.shape} with {np.shape(targets)}")
    flat, came = self.data.reshape(-1, self.data.shape[-1]), np.ravel(targets)
    log_p = flat - np.logaddexp.reduce(flat, axis=-1, keepdims=True)

    def back(u):
        one_hot = np.eye(flat.shape[-1], dtype=flat.dtype)[came]
        return ((u * (np.exp(log_p) - one_hot) / len(came)).astype(flat.dtype).reshape(self.data.shape),)

    return Tensor(-log_p[np.arange(len(came)), came].mean(), (self,), back)


# Level 3: the model


@equivalent(of="TransformerLM.attend")
def heads_one_by_one(self, x, block, B, T):
    """Cut each head's columns out of the matrices by a look-up, and add the heads' shares of the projection up."""
    E, p = x.data.shape[-1], self._parameters
    d, total = E // self.n_heads, None
    for head in range(self.n_heads):
        own = np.arange(head * d, (head + 1) * d)
        q, k, v = (
            x.matmul(p[f"blocks.{block}.{name}"].transpose(0, 1).rows(own).transpose(0, 1)).reshape(B, T, d)
            for name in "qkv"
        )
        w = q.matmul(k.transpose(1, 2)).mul(1 / math.sqrt(d)).causal_mask().softmax_rows()
        share = w.matmul(v).reshape(B * T, d).matmul(p[f"blocks.{block}.proj"].rows(own))
        total = share if total is None else total.add(share)
    return total


@equivalent(of="TransformerLM.logits")
def table_on_the_left(self, idx):
    """Look positions up for every sequence, add in another order, and score by the table times the stream."""
    p, (B, T) = self._parameters, idx.shape
    width = p["tok_emb"].data.shape[1]
    places = np.tile(np.arange(T), (B, 1))
    stream = p["pos_emb"].rows(places).add(p["tok_emb"].rows(idx)).reshape(B * T, width)
    for block in range(self.n_blocks):
        w = {name.split(".", 2)[2]: each for name, each in p.items() if name.startswith(f"blocks.{block}.")}
        stream = self.attend(stream.layer_norm(w["ln1.weight"], w["ln1.bias"]), block, B, T).add(stream)
        inner = stream.layer_norm(w["ln2.weight"], w["ln2.bias"]).matmul(w["up"])
        stream = stream.add(w["down_bias"]).add(inner.add(w["up_bias"]).gelu().matmul(w["down"]))
    scored = p["tok_emb"].matmul(stream.layer_norm(p["ln_f.weight"], p["ln_f.bias"]).transpose(0, 1))  # (V, B * T)
    return scored.transpose(0, 1).reshape(B, T, -1)
