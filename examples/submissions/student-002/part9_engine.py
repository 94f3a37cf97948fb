"""Part 9 once more, written another way: nodes are numbered as they are made, and nothing is stacked."""

import itertools

import numpy as np


def bigram_counts(ids, vocab_size):
    """Count numbers that stand for pairs."""
    pairs = np.asarray(ids[:-1]) * vocab_size + np.asarray(ids[1:])
    return np.bincount(pairs, minlength=vocab_size**2).reshape(vocab_size, vocab_size)


def bigram_nll(counts, ids, smoothing=1.0):
    """Look up one pair after the other."""
    size, sums = counts.shape[1], counts.sum(axis=1)
    pairs = list(itertools.pairwise(ids))
    return -sum(np.log((counts[a, b] + smoothing) / (sums[a] + smoothing * size)) for a, b in pairs) / len(pairs)


class WindowMLP:
    """Gradients by hand, with one-hot matrices in place of look-ups."""

    def __init__(self, vocab_size, window=8, d_embed=16, d_hidden=128, rng=None):
        rng = rng or np.random.default_rng(1)
        shapes = {"E": (vocab_size, d_embed), "W1": (window * d_embed, d_hidden), "W2": (d_hidden, vocab_size)}
        self.params = {name: rng.uniform(-0.1, 0.1, shape) for name, shape in shapes.items()}
        self.params["b1"] = np.zeros((d_hidden,))
        self.params["b2"] = np.zeros((vocab_size,))

    def loss_and_grads(self, x, y):
        """Run and go back."""
        p = self.params
        one_hot = np.eye(len(p["E"]))
        tokens = one_hot[x]
        read = np.einsum("nwv,vd->nwd", tokens, p["E"]).reshape(len(x), -1)
        g = np.tanh(read.dot(p["W1"]) + p["b1"])
        s = g.dot(p["W2"]) + p["b2"]
        s -= s.max(1, keepdims=True)
        normaliser = np.log(np.exp(s).sum(1))
        loss = np.mean(normaliser - s[np.arange(len(y)), y])
        ds = (np.exp(s - normaliser[:, None]) - one_hot[y]) / len(y)
        da = ds.dot(p["W2"].T) * (1 - g**2)
        de = da.dot(p["W1"].T).reshape(*x.shape, -1)
        grads = {"b2": ds.sum(0), "W2": g.T.dot(ds), "b1": da.sum(0), "W1": read.T.dot(da)}
        grads["E"] = np.einsum("nwv,nwd->vd", tokens, de)
        return loss, grads


_numbers = itertools.count()


def _shrink(gradient, like):
    while gradient.ndim > like.ndim:
        gradient = gradient.sum(0)
    for axis in range(like.ndim):
        if like.shape[axis] == 1:
            gradient = gradient.sum(axis, keepdims=True)
    return gradient


class Tensor:
    """Each send is a list of (parent, function of the upstream)."""

    def __init__(self, data, sends=()):
        data = np.asarray(data)
        if not np.issubdtype(data.dtype, np.floating):
            raise ValueError(f"Tensor: expected float data, got {data.dtype} {data.shape}")
        self.data, self.sends, self.number = data, sends, next(_numbers)
        self.grad = np.zeros(data.shape, data.dtype)

    def zero_grad(self):
        """Make zeros."""
        self.grad = np.zeros(self.data.shape, self.data.dtype)

    def backward_all(self):
        """Go from the youngest node to the oldest: what was made later cannot be a parent of what was made before."""
        if self.data.ndim:
            raise ValueError(f"backward_all needs a scalar, this has shape {self.data.shape}")
        known, todo = {self.number: self}, [self]
        while todo:
            for parent, _ in todo.pop().sends:
                if parent.number not in known:
                    known[parent.number] = parent
                    todo.append(parent)
        now = {number: np.zeros(node.data.shape, node.data.dtype) for number, node in known.items()}
        now[self.number] += 1
        for number in sorted(known, reverse=True):
            for parent, function in known[number].sends:
                now[parent.number] += function(now[number])
        for number, node in known.items():
            node.grad += now[number]

    def add(self, other):
        """Add."""
        if isinstance(other, (int, float)):
            return Tensor(self.data + float(other), [(self, lambda u: u)])
        return Tensor(
            self.data + other.data, [(self, lambda u: _shrink(u, self.data)), (other, lambda u: _shrink(u, other.data))]
        )

    def mul(self, other):
        """Multiply."""
        if isinstance(other, (int, float)):
            return Tensor(self.data * float(other), [(self, lambda u: u * float(other))])
        a, b = self.data, other.data
        return Tensor(a * b, [(self, lambda u: _shrink(u * b, a)), (other, lambda u: _shrink(u * a, b))])

    def matmul(self, other):
        """Multiply matrices with einsum."""
        a, b = self.data, other.data
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(f"cannot multiply {a.shape} by {b.shape}")
        try:
            product = np.einsum("...nk,...km->...nm", a, b)
        except ValueError:
            raise ValueError(f"leading axes of {a.shape} and {b.shape}") from None
        return Tensor(
            product,
            [
                (self, lambda u: _shrink(np.einsum("...nm,...km->...nk", u, b), a)),
                (other, lambda u: _shrink(np.einsum("...nk,...nm->...km", a, u), b)),
            ],
        )

    def sum(self):
        """Add up."""
        return Tensor(np.sum(self.data), [(self, lambda u: np.full(self.data.shape, u))])

    def reshape(self, *shape):
        """Reshape."""
        return Tensor(np.reshape(self.data, shape), [(self, lambda u: np.reshape(u, self.data.shape))])

    def transpose(self, axis1, axis2):
        """Swap."""
        return Tensor(np.swapaxes(self.data, axis1, axis2).copy(), [(self, lambda u: np.swapaxes(u, axis2, axis1))])

    def rows(self, ids):
        """Look up."""
        ids = np.asarray(ids)
        shape = self.data.shape

        def back(u):
            flat = u.reshape(ids.size, -1)
            collected = np.zeros((shape[0], flat.shape[1]), u.dtype)
            for place, token in enumerate(ids.ravel()):
                collected[token] += flat[place]
            return collected.reshape(shape)

        return Tensor(self.data.take(ids, axis=0), [(self, back)])

    def tanh(self):
        """Squash."""
        return Tensor(np.tanh(self.data), [(self, lambda u: u / np.cosh(np.clip(self.data, -300, 300)) ** 2)])

    def gelu(self):
        """Use sigmoid(2z) = (1 + tanh z) / 2."""
        x = self.data
        z = 0.7978845608028654 * (x + 0.044715 * x**3)
        gate = 0.5 + 0.5 * np.tanh(z)
        inner = 0.7978845608028654 * (1 + 0.134145 * x**2)
        return Tensor(x * gate, [(self, lambda u: u * (gate + 2 * x * gate * (1 - gate) * inner))])

    def layer_norm(self, weight, bias, eps=1e-5):
        """Build the Jacobian's products from the variance's side."""
        x = self.data
        width = x.shape[-1]
        sigma = np.sqrt(x.var(-1, keepdims=True) + eps)
        h = (x - x.mean(-1, keepdims=True)) / sigma

        def to_x(u):
            g = u * weight.data
            total = g.sum(-1, keepdims=True) + h * (g * h).sum(-1, keepdims=True)
            return (width * g - total) / (width * sigma)

        return Tensor(
            h * weight.data + bias.data,
            [(self, to_x), (weight, lambda u: _shrink(u * h, weight.data)), (bias, lambda u: _shrink(u, bias.data))],
        )

    def causal_mask(self):
        """Fill a copy."""
        above = np.triu_indices(self.data.shape[-1], 1)
        masked = self.data.copy()
        masked[(..., *above)] = -np.inf

        def back(u):
            u = u.copy()
            u[(..., *above)] = 0
            return u

        return Tensor(masked, [(self, back)])

    def softmax_rows(self):
        """Multiply with the whole Jacobian."""
        x = self.data
        w = np.exp(x - x.max(-1, keepdims=True))
        w /= w.sum(-1, keepdims=True)

        def back(u):
            jacobian = w[..., None] * np.eye(w.shape[-1], dtype=w.dtype) - w[..., None] * w[..., None, :]
            return np.einsum("...ij,...j->...i", jacobian, u)

        return Tensor(w, [(self, back)])

    def cross_entropy(self, targets):
        """Use a one-hot array."""
        x = self.data
        targets = np.asarray(targets)
        if x.shape[:-1] != targets.shape:
            raise ValueError(f"logits of shape {x.shape} and targets of shape {targets.shape}")
        one_hot = np.eye(x.shape[-1], dtype=x.dtype)[targets]
        top = x.max(-1, keepdims=True)
        log_p = x - top - np.log(np.exp(x - top).sum(-1, keepdims=True))
        count = targets.size
        return Tensor(-(one_hot * log_p).sum() / count, [(self, lambda u: u * (np.exp(log_p) - one_hot) / count)])


class TransformerLM:
    """Batch and time stay apart."""

    def __init__(self, vocab_size, block_size=64, n_blocks=1, n_heads=4, d_embed=128, rng=None):
        rng = rng or np.random.default_rng(2)
        self.heads, self.blocks, E = n_heads, range(n_blocks), d_embed
        self.p = {"tok_emb": (vocab_size, E), "pos_emb": (block_size, E)}
        for i in self.blocks:
            shapes = {"ln1.weight": (E,), "ln1.bias": (E,), "q": (E, E), "k": (E, E), "v": (E, E), "proj": (E, E)}
            shapes |= {"ln2.weight": (E,), "ln2.bias": (E,), "up": (E, 4 * E), "up_bias": (4 * E,)}
            shapes |= {"down": (4 * E, E), "down_bias": (E,)}
            self.p |= {f"blocks.{i}.{name}": shape for name, shape in shapes.items()}
        self.p |= {"ln_f.weight": (E,), "ln_f.bias": (E,)}
        for name, shape in self.p.items():
            small = rng.standard_normal(shape) / 30
            start = np.ones(shape) if name.endswith("weight") else np.zeros(shape) if name.endswith("bias") else small
            self.p[name] = Tensor(start)

    def parameters(self):
        """Give the dict itself."""
        return self.p

    def norm(self, x, name):
        """Normalise with the weights of that name."""
        return x.layer_norm(self.p[f"{name}.weight"], self.p[f"{name}.bias"])

    def logits(self, idx):
        """Score."""
        batch, length = idx.shape
        width = self.p["tok_emb"].data.shape[1]
        d = width // self.heads
        x = self.p["pos_emb"].rows(list(range(length))).add(self.p["tok_emb"].rows(idx))
        for i in self.blocks:
            p = {
                name[len(f"blocks.{i}.") :]: value for name, value in self.p.items() if name.startswith(f"blocks.{i}.")
            }
            h = self.norm(x, f"blocks.{i}.ln1")
            q, k, v = (h.matmul(p[n]).reshape(batch, length, self.heads, d).transpose(1, 2) for n in "qkv")
            w = q.matmul(k.transpose(2, 3)).mul(1 / d**0.5).causal_mask().softmax_rows()
            x = w.matmul(v).transpose(1, 2).reshape(batch, length, width).matmul(p["proj"]).add(x)
            h = self.norm(x, f"blocks.{i}.ln2")
            x = h.matmul(p["up"]).add(p["up_bias"]).gelu().matmul(p["down"]).add(p["down_bias"]).add(x)
        return self.norm(x, "ln_f").matmul(self.p["tok_emb"].transpose(0, 1))

    def loss(self, idx, targets):
        """Judge."""
        return self.logits(idx).cross_entropy(targets)
