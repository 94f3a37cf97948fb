"""Wrong solutions of part 9, one function each, and what a student who wrote one is told."""

import math

import numpy as np
from part9_engine import Tensor, TransformerLM, WindowMLP, bigram_counts, unbroadcast

from autograder.checks import mistake

# Level 1


@mistake(of="bigram_counts")
def repeated_pairs_counted_once(ids, vocab_size):
    """Each of your pairs is counted once, however often it occurs: an indexed += reads all places before it writes
    any, so repeated places are not added up."""
    counts = np.zeros((vocab_size, vocab_size))
    counts[ids[:-1], ids[1:]] += 1
    return counts


@mistake(of="bigram_counts")
def counts_transposed(ids, vocab_size, right=bigram_counts):
    """These are exactly the transposed counts: a row belongs to this token, a column to the next one."""
    return right(ids, vocab_size).T


@mistake(of="bigram_counts")
def last_token_followed_by_the_first(ids, vocab_size):
    """Your counts have one pair too many: the text was bent into a ring, and its last token is followed by its
    first."""
    counts = np.zeros((vocab_size, vocab_size))
    np.add.at(counts, (ids, np.roll(ids, -1)), 1)
    return counts


@mistake(of="bigram_nll")
def smoothing_missing_in_the_row_sum(counts, ids, smoothing=1.0):
    """These are exactly the numbers you get when the smoothing is added to each count and to the row's sum only once:
    V places were smoothed, so the probabilities of a row add up to more than 1."""
    shares = (counts + smoothing) / (counts.sum(axis=1, keepdims=True) + smoothing)
    return float(-np.log(shares[ids[:-1], ids[1:]]).mean())


@mistake(of="bigram_nll")
def nll_in_bits(counts, ids, smoothing=1.0):
    """These are exactly the numbers in bits: a loss in nats has the natural logarithm."""
    smoothed = counts + smoothing
    shares = smoothed / smoothed.sum(axis=1, keepdims=True)
    return float(-np.log2(shares[ids[:-1], ids[1:]]).mean())


@mistake(of="bigram_nll")
def nll_divided_by_the_number_of_tokens(counts, ids, smoothing=1.0):
    """These are exactly the numbers you get when the sum is divided by n: a text of n tokens has n - 1 predictions,
    since nothing predicts the first token."""
    smoothed = counts + smoothing
    shares = smoothed / smoothed.sum(axis=1, keepdims=True)
    return float(-np.log(shares[ids[:-1], ids[1:]]).sum() / len(ids))


@mistake(of="bigram_nll")
def nll_not_averaged(counts, ids, smoothing=1.0):
    """These are exactly the sums over all predictions: the loss is the mean, so that texts of different lengths can be
    compared."""
    smoothed = counts + smoothing
    shares = smoothed / smoothed.sum(axis=1, keepdims=True)
    return float(-np.log(shares[ids[:-1], ids[1:]]).sum())


@mistake(of="bigram_nll")
def smoothing_always_one(counts, ids, smoothing=1.0):
    """These are exactly the numbers for smoothing 1, whatever smoothing was asked for."""
    smoothed = counts + 1.0
    shares = smoothed / smoothed.sum(axis=1, keepdims=True)
    return float(-np.log(shares[ids[:-1], ids[1:]]).mean())


@mistake(of="bigram_nll")
def columns_normalised(counts, ids, smoothing=1.0):
    """These are exactly the numbers you get when the columns add up to 1: that is the chance of the token before. A
    row belongs to one token and holds the chances of what follows it."""
    smoothed = counts + smoothing
    shares = smoothed / smoothed.sum(axis=0, keepdims=True)
    return float(-np.log(shares[ids[:-1], ids[1:]]).mean())


# Level 2


@mistake(of="WindowMLP.loss_and_grads")
def mlp_gradients_not_averaged(self, x, y, right=WindowMLP.loss_and_grads):
    """Your gradients are N times too large: the loss is a mean over the N windows, and the 1/N belongs into the
    gradient of the scores."""
    loss, grads = right(self, x, y)
    return loss, {name: gradient * len(y) for name, gradient in grads.items()}


@mistake(of="WindowMLP.loss_and_grads")
def mlp_loss_is_a_sum(self, x, y, right=WindowMLP.loss_and_grads):
    """Your loss and its gradients are N times too large: the loss is the mean over the windows, not their sum."""
    loss, grads = right(self, x, y)
    return loss * len(y), {name: gradient * len(y) for name, gradient in grads.items()}


@mistake(of="WindowMLP.loss_and_grads")
def mlp_bias_gradients_averaged(self, x, y, right=WindowMLP.loss_and_grads):
    """The gradients of your biases are averaged over the rows: a bias acts in every row, so they are summed. The 1/N is
    in the gradient of the scores already."""
    loss, grads = right(self, x, y)
    return loss, grads | {name: grads[name] / len(y) for name in ("b1", "b2")}


@mistake(of="WindowMLP.loss_and_grads")
def window_read_newest_first(self, x, y, right=WindowMLP.loss_and_grads):
    """These are exactly the numbers you get when the newest token of a window is laid first: the oldest comes first."""
    return right(self, x[:, ::-1], y)


@mistake(of="WindowMLP.loss_and_grads", trains="window_mlp_trained_on_its_gradients_beats_the_counts")
def embedding_gradient_of_repeated_ids_lost(self, x, y, right=WindowMLP.loss_and_grads):
    """The gradient of E is that of the last place of each id: an indexed += does not add up repeated ids. A row that
    was used in many places collects from all of them."""
    loss, grads = right(self, x, y)
    p, row = self.params, np.arange(len(y))
    hidden = np.tanh(p["E"][x].reshape(len(y), -1) @ p["W1"] + p["b1"])
    scores = hidden @ p["W2"] + p["b2"]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[row, y] -= 1
    before = shares / len(y) @ p["W2"].T * (1 - hidden**2)
    collected = np.zeros_like(p["E"])
    collected[x] += (before @ p["W1"].T).reshape(*x.shape, -1)
    return loss, grads | {"E": collected}


@mistake(of="WindowMLP.loss_and_grads")
def mlp_tanh_slope_of_its_input(self, x, y, right=WindowMLP.loss_and_grads):
    """These are exactly the gradients you get when the slope of tanh is taken as 1 - a² of what went in: it is 1 - g²
    of what came out."""
    loss, grads = right(self, x, y)
    p, row = self.params, np.arange(len(y))
    features = p["E"][x].reshape(len(y), -1)
    a = features @ p["W1"] + p["b1"]
    scores = np.tanh(a) @ p["W2"] + p["b2"]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[row, y] -= 1
    before = shares / len(y) @ p["W2"].T * (1 - a**2)
    collected = np.zeros_like(p["E"])
    np.add.at(collected, x, (before @ p["W1"].T).reshape(*x.shape, -1))
    return loss, grads | {"E": collected, "W1": features.T @ before, "b1": before.sum(axis=0)}


@mistake(of="WindowMLP.loss_and_grads")
def mlp_tanh_slope_forgotten(self, x, y, right=WindowMLP.loss_and_grads):
    """These are exactly the gradients you get when the slope of tanh is left out on the way back: each line of the
    forward pass has its twin."""
    loss, grads = right(self, x, y)
    p, row = self.params, np.arange(len(y))
    features = p["E"][x].reshape(len(y), -1)
    scores = np.tanh(features @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    shares[row, y] -= 1
    before = shares / len(y) @ p["W2"].T
    collected = np.zeros_like(p["E"])
    np.add.at(collected, x, (before @ p["W1"].T).reshape(*x.shape, -1))
    return loss, grads | {"E": collected, "W1": features.T @ before, "b1": before.sum(axis=0)}


@mistake(of="WindowMLP.loss_and_grads")
def mlp_scores_overflow(self, x, y, right=WindowMLP.loss_and_grads):
    """Your softmax overflows where scores are in the hundreds: subtract each row's largest score before exp, which
    changes no share."""
    _, grads = right(self, x, y)
    p = self.params
    scores = np.tanh(p["E"][x].reshape(len(y), -1) @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return float(-np.log(shares[np.arange(len(y)), y]).mean()), grads


@mistake(of="WindowMLP.loss_and_grads", trains="window_mlp_trained_on_its_gradients_beats_the_counts")
def mlp_gradients_left_over(self, x, y, right=WindowMLP.loss_and_grads):
    """Your gradients still hold those of the call before: loss_and_grads begins with zeros each time, since nobody
    tells it when a new step begins."""
    loss, grads = right(self, x, y)
    earlier = getattr(self, "left_over", {})
    self.left_over = {name: earlier.get(name, 0.0) + gradient for name, gradient in grads.items()}
    return loss, dict(self.left_over)


# Level 3: the tensor and the engine


@mistake(of="Tensor.__init__")
def integers_converted(self, data, parents=(), backward=None):
    """Your Tensor turns integers into floats: somebody who passes ids where numbers are due then never learns of it.
    Refuse them with a ValueError."""
    data = np.asarray(data)
    self.data = data if data.dtype.kind == "f" else data.astype(float)
    self._parents, self._backward = parents, backward


@mistake(of="Tensor.__init__")
def everything_made_float64(self, data, parents=(), backward=None):
    """Your Tensor turns float32 into float64: data keep the dtype in which they come."""
    if np.asarray(data).dtype.kind != "f":
        raise ValueError(f"data must be floats, not {np.asarray(data).dtype}")
    self.data = np.asarray(data, dtype=np.float64)
    self._parents, self._backward = parents, backward


@mistake(of="Tensor.zero_grad", trains="transformer_trained_on_its_gradients_beats_the_counts")
def zero_grad_does_nothing(self):
    """Your zero_grad leaves the gradient as it was: the next pass is then added to the old one."""


@mistake(of="Tensor.zero_grad")
def zero_grad_keeps_the_old_shape(self):
    """Your zero_grad overwrites the old gradient in place: where data were assigned anew, it must take the shape and
    dtype that they have now."""
    self.grad[...] = 0.0


@mistake(of="Tensor.zero_grad")
def zero_grad_in_float64(self):
    """Your zero_grad makes zeros in float64: a gradient has the dtype of its data."""
    self.grad = np.zeros(self.data.shape)


@mistake(of="Tensor.backward_all")
def last_gradient_wins(self):
    """These are exactly the numbers you get when a gradient that arrives replaces the one before it: where a tensor is
    used twice, the two are added."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    order, seen, stack = [], {id(self)}, [(self, iter(self._parents))]
    while stack:
        node, rest = stack[-1]
        parent = next(rest, None)
        if parent is None:
            order.append(stack.pop()[0])
        elif id(parent) not in seen:
            seen.add(id(parent))
            stack.append((parent, iter(parent._parents)))
    flowing = {id(self): np.ones_like(self.data)}
    for node in reversed(order):
        upstream = flowing.pop(id(node))
        node.grad = node.grad + upstream
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(upstream), strict=True):
                flowing[id(parent)] = gradient


@mistake(of="Tensor.backward_all")
def gradient_replaced_by_each_pass(self, right=Tensor.backward_all):
    """Your second pass replaces the gradients of the first: grad accumulates until zero_grad, so that several losses
    can be added up."""
    stack, seen = [self], set()
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            node._grad = None
            stack.extend(node._parents)
    right(self)


@mistake(of="Tensor.backward_all")
def collected_gradient_sent_on(self):
    """Your second pass sends on what the first one left in grad, so it arrives more than once: keep what flows in this
    pass apart from what has been collected."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    order, seen, stack = [], {id(self)}, [(self, iter(self._parents))]
    while stack:
        node, rest = stack[-1]
        parent = next(rest, None)
        if parent is None:
            order.append(stack.pop()[0])
        elif id(parent) not in seen:
            seen.add(id(parent))
            stack.append((parent, iter(parent._parents)))
    self.grad = self.grad + 1
    for node in reversed(order):
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(node.grad), strict=True):
                parent.grad = parent.grad + gradient


@mistake(of="Tensor.backward_all")
def collected_gradient_sent_on_from_a_root_of_one(self):
    """Your root's gradient is set to 1 where 1 should be added to it, and the other nodes send on what earlier passes
    left in grad: keep what flows in this pass apart."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    order, seen, stack = [], {id(self)}, [(self, iter(self._parents))]
    while stack:
        node, rest = stack[-1]
        parent = next(rest, None)
        if parent is None:
            order.append(stack.pop()[0])
        elif id(parent) not in seen:
            seen.add(id(parent))
            stack.append((parent, iter(parent._parents)))
    self.grad = np.ones_like(self.data)
    for node in reversed(order):
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(node.grad), strict=True):
                parent.grad = parent.grad + gradient


@mistake(of="Tensor.backward_all")
def nodes_in_preorder(self):
    """These are exactly the numbers you get when nodes have their turn in pre-order, each before its parents are
    explored: some then send on before everything has arrived. Reverse a post-order."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    order, seen, stack = [], set(), [self]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            order.append(node)
            stack.extend(reversed(node._parents))
    flowing = {id(node): np.zeros_like(node.data) for node in order}
    flowing[id(self)] = np.ones_like(self.data)
    for node in order:
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(flowing[id(node)]), strict=True):
                flowing[id(parent)] = flowing[id(parent)] + gradient
    for node in order:
        node.grad = node.grad + flowing[id(node)]


@mistake(of="Tensor.backward_all")
def nodes_nearest_first(self):
    """These are exactly the numbers you get when nodes have their turn breadth first, the nearest to the loss before
    the farther: a node with a short and a long way to the loss then sends on too early."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    order, seen = [self], {id(self)}
    for node in order:
        for parent in node._parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                order.append(parent)
    flowing = {id(node): np.zeros_like(node.data) for node in order}
    flowing[id(self)] = np.ones_like(self.data)
    for node in order:
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(flowing[id(node)]), strict=True):
                flowing[id(parent)] = flowing[id(parent)] + gradient
    for node in order:
        node.grad = node.grad + flowing[id(node)]


@mistake(of="Tensor.backward_all")
def order_by_recursion(self):
    """Your order is found by a function that calls itself: Python stops at about 1,000 nested calls, and a graph may
    be deeper. Keep a stack of your own."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    order, seen = [], set()

    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            for parent in node._parents:
                visit(parent)
            order.append(node)

    visit(self)
    flowing = {id(self): np.ones_like(self.data)}
    for node in reversed(order):
        upstream = flowing.pop(id(node))
        node.grad = node.grad + upstream
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(upstream), strict=True):
                flowing[id(parent)] = flowing[id(parent)] + gradient if id(parent) in flowing else gradient


@mistake(of="Tensor.backward_all")
def every_path_walked(self):
    """Your engine follows every path and not every node: its gradients are right, and 18 doublings cost a quarter of a
    million turns. Give each node one turn, when all has arrived."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    stack = [(self, np.ones_like(self.data))]
    while stack:
        node, upstream = stack.pop()
        node.grad = node.grad + upstream
        if node._backward is not None:
            stack.extend(zip(node._parents, node._backward(upstream), strict=True))


@mistake(of="Tensor.backward_all")
def arrivals_added_into_a_shared_array(self):
    """Your engine keeps the array that arrives first and adds the next one into it, in place: an addition sends one
    array to both of its operands, so the other's gradient changes too."""
    if self.data.shape != ():
        raise ValueError(f"no scalar: {self.data.shape}")
    order, seen, stack = [], {id(self)}, [(self, iter(self._parents))]
    while stack:
        node, rest = stack[-1]
        parent = next(rest, None)
        if parent is None:
            order.append(stack.pop()[0])
        elif id(parent) not in seen:
            seen.add(id(parent))
            stack.append((parent, iter(parent._parents)))
    flowing = {id(self): np.ones_like(self.data)}
    for node in reversed(order):
        upstream = flowing[id(node)]
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(upstream), strict=True):
                if id(parent) in flowing:
                    if not flowing[id(parent)].flags.writeable:
                        flowing[id(parent)] = flowing[id(parent)].copy()
                    flowing[id(parent)] += gradient
                else:
                    flowing[id(parent)] = gradient
    for node in order:
        node.grad = node.grad + flowing[id(node)]


@mistake(of="Tensor.backward_all")
def only_leaves_keep_their_gradient(self, right=Tensor.backward_all):
    """Your engine leaves gradients in the leaves only: every tensor that the scalar was made from collects its own,
    and so does the scalar."""
    stack, seen, inner = [self], set(), []
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend(node._parents)
            if node._parents:
                inner.append((node, node._grad))
    right(self)
    for node, gradient in inner:
        node._grad = gradient


@mistake(of="Tensor.backward_all")
def backward_from_any_shape(self):
    """Your backward_all begins at an array as well, with ones: that is the gradient of its sum, which nobody asked
    for. Refuse what is no scalar, with its shape."""
    order, seen, stack = [], {id(self)}, [(self, iter(self._parents))]
    while stack:
        node, rest = stack[-1]
        parent = next(rest, None)
        if parent is None:
            order.append(stack.pop()[0])
        elif id(parent) not in seen:
            seen.add(id(parent))
            stack.append((parent, iter(parent._parents)))
    flowing = {id(self): np.ones_like(self.data)}
    for node in reversed(order):
        upstream = flowing.pop(id(node))
        node.grad = node.grad + upstream
        if node._backward is not None:
            for parent, gradient in zip(node._parents, node._backward(upstream), strict=True):
                flowing[id(parent)] = flowing[id(parent)] + gradient if id(parent) in flowing else gradient


@mistake(of="Tensor.backward_all")
def non_scalar_refused_by_assertion(self, right=Tensor.backward_all):
    """You refuse an array with an assert: it says nothing to whoever calls, and vanishes under python -O. The contract
    asks for a ValueError with the shape."""
    assert self.data.shape == ()
    right(self)


@mistake(of="Tensor.backward_all")
def one_number_of_any_shape_is_a_scalar(self, right=Tensor.backward_all):
    """Your backward_all takes an array of one element for a scalar: the contract asks for the shape (), and (1,) or
    (1, 1) is refused with its shape."""
    if self.data.size != 1:
        raise ValueError(f"no scalar: {self.data.shape}")
    if self.data.shape != ():
        self = self.reshape()
    right(self)


# Level 3: add, mul and broadcasting


@mistake(of="unbroadcast")
def stretched_gradient_not_summed(gradient, shape):
    """Your gradient has the shape of the result, not of the operand: broadcasting used each number of the smaller
    array in many places, and its gradient is the sum over them."""
    return gradient


@mistake(of="unbroadcast")
def only_leading_axes_summed(gradient, shape):
    """Your gradient is summed over the axes in front only: an axis of length 1, as in (T, 1), was stretched too, and
    has to be summed and kept."""
    return gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))


@mistake(of="unbroadcast")
def only_axes_of_length_one_summed(gradient, shape):
    """Your gradient is summed over axes of length 1 only: axes in front that the operand does not have, as those of a
    bias, are summed away."""
    offset = gradient.ndim - len(shape)
    axes = tuple(offset + axis for axis, size in enumerate(shape) if size == 1)
    return gradient.sum(axis=axes, keepdims=True)


@mistake(of="unbroadcast")
def stretched_gradient_averaged(gradient, shape, right=unbroadcast):
    """Your gradient is averaged over the places where a number was used: each of them had its effect, so they are
    summed."""
    total = right(gradient, shape)
    return total * (total.size / gradient.size)


@mistake(of="unbroadcast")
def stretched_gradient_of_one_place(gradient, shape):
    """Your gradient is that of the first place in which a number was used: a stretched array acts in all of them, and
    they are summed."""
    while gradient.ndim > len(shape):
        gradient = gradient[0]
    for axis, size in enumerate(shape):
        if size == 1:
            gradient = gradient.take([0], axis=axis)
    return gradient


@mistake(of="Tensor.add")
def add_with_numpy_scalar(self, other, right=Tensor.add):
    """Adding a number turns your float32 into float64: the number became a numpy scalar, which carries a dtype. A plain
    float does not."""
    if isinstance(other, Tensor):
        return right(self, other)
    return Tensor(self.data + np.float64(other), (self,), lambda upstream: (upstream,))


@mistake(of="Tensor.add")
def add_gives_second_operand_nothing(self, other, right=Tensor.add):
    """The second operand of your addition gets no gradient: both operands get the upstream."""
    if not isinstance(other, Tensor):
        return right(self, other)
    result = right(self, other)
    return Tensor(result.data, (self,), lambda upstream: (unbroadcast(upstream, self.data.shape),))


@mistake(of="Tensor.mul")
def mul_sends_its_own_value(self, other, right=Tensor.mul):
    """These are exactly the gradients you get when each factor's gradient is multiplied with its own value: a move of
    one factor is stretched by the other. With x times x you do not see it."""
    if not isinstance(other, Tensor):
        return right(self, other)
    a, b = self.data, other.data

    def backward(upstream):
        return unbroadcast(upstream * a, a.shape), unbroadcast(upstream * b, b.shape)

    return Tensor(a * b, (self, other), backward)


@mistake(of="Tensor.mul")
def mul_ignores_the_number_on_the_way_back(self, other, right=Tensor.mul):
    """Multiplying by a number leaves your gradient as it was: the number stretches every move, so it stretches the
    gradient too."""
    if isinstance(other, Tensor):
        return right(self, other)
    return Tensor(self.data * float(other), (self,), lambda upstream: (upstream,))


@mistake(of="Tensor.mul")
def mul_with_numpy_scalar(self, other, right=Tensor.mul):
    """Multiplying by a number turns your float32 into float64: the number became a numpy scalar, which carries a dtype.
    A plain float does not."""
    if isinstance(other, Tensor):
        return right(self, other)
    factor = np.float64(other)
    return Tensor(self.data * factor, (self,), lambda upstream: (upstream * factor,))


@mistake(of="Tensor.mul")
def summed_before_multiplied(self, other, right=Tensor.mul):
    """Your product sums the upstream to the operand's shape before it multiplies: multiply in the result's shape first,
    since each place has a factor of its own, then sum."""
    if not isinstance(other, Tensor):
        return right(self, other)
    a, b = self.data, other.data

    def backward(upstream):
        return unbroadcast(upstream, a.shape) * b, unbroadcast(upstream, b.shape) * a

    return Tensor(a * b, (self, other), backward)


# Level 3: matmul


@mistake(of="Tensor.matmul")
def matmul_without_transposes(self, other, right=Tensor.matmul):
    """Your matmul multiplies the upstream with the other factor as it stands: the gradient of the left factor needs the
    right one transposed, that of the right the left one transposed. Square matrices hide it from a look at shapes."""
    result = right(self, other)
    a, b = self.data, other.data
    return Tensor(result.data, (self, other), lambda u: (unbroadcast(u @ b, a.shape), unbroadcast(a @ u, b.shape)))


@mistake(of="Tensor.matmul")
def gradient_of_right_factor_transposed(self, other, right=Tensor.matmul):
    """The gradient of your right factor is transposed: it has the shape (k, m), so the left factor, transposed, comes
    first."""
    result = right(self, other)
    a, b = self.data, other.data

    def backward(upstream):
        first = unbroadcast(upstream @ b.swapaxes(-1, -2), a.shape)
        second = unbroadcast(a.swapaxes(-1, -2) @ upstream, b.shape)
        return first, second.swapaxes(-1, -2)

    return Tensor(result.data, (self, other), backward)


@mistake(of="Tensor.matmul")
def all_axes_transposed(self, other, right=Tensor.matmul):
    """Your matmul reverses all axes of a factor on the way back: in a batch only the last two are swapped."""
    result = right(self, other)
    a, b = self.data, other.data
    return Tensor(result.data, (self, other), lambda u: (unbroadcast(u @ b.T, a.shape), unbroadcast(a.T @ u, b.shape)))


@mistake(of="Tensor.matmul")
def weight_gradient_kept_for_each_sequence(self, other, right=Tensor.matmul):
    """The gradient of a weight that serves a whole batch keeps the batch's axis: it acted in every product of the
    batch, so sum over the leading axes that it does not have."""
    result = right(self, other)
    a, b = self.data, other.data
    return Tensor(result.data, (self, other), lambda u: (u @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ u))


@mistake(of="Tensor.matmul")
def weight_gradient_averaged_over_the_batch(self, other, right=Tensor.matmul):
    """The gradient of a weight that serves a whole batch is averaged over the batch: each product had its effect, so
    they are summed. The mean is in the loss already."""
    result = right(self, other)
    a, b = self.data, other.data

    def backward(upstream):
        first, second = upstream @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ upstream
        return (
            unbroadcast(first, a.shape) * (a.size / first.size),
            unbroadcast(second, b.shape) * (b.size / second.size),
        )

    return Tensor(result.data, (self, other), backward)


@mistake(of="Tensor.matmul")
def matmul_leaves_the_message_to_numpy(self, other):
    """Your matmul lets numpy complain, which names the sizes that differ and not the shapes: with both shapes in the
    message one sees at once which tensor is turned."""
    a, b = self.data, other.data

    def backward(upstream):
        first, second = upstream @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ upstream
        return unbroadcast(first, a.shape), unbroadcast(second, b.shape)

    return Tensor(np.matmul(a, b), (self, other), backward)


# Level 3: moving and copying


@mistake(of="Tensor.sum")
def sum_ignores_its_upstream(self):
    """Your sum sends ones back whatever arrives: that is right only where the sum is the loss itself. Every element
    gets the upstream."""
    shape = self.data.shape
    return Tensor(self.data.sum(), (self,), lambda upstream: (np.ones(shape, upstream.dtype),))


@mistake(of="Tensor.sum")
def sum_sends_a_mean_back(self):
    """Your sum divides the gradient by the number of elements: that is the gradient of a mean."""
    shape, size = self.data.shape, self.data.size
    return Tensor(self.data.sum(), (self,), lambda upstream: (np.broadcast_to(upstream / size, shape),))


@mistake(of="Tensor.reshape")
def reshape_backward_in_columns(self, *shape):
    """Your reshape goes back in another order than it came: the gradient is read row by row, as the numbers were."""
    before = self.data.shape
    return Tensor(self.data.reshape(shape), (self,), lambda upstream: (upstream.reshape(before, order="F"),))


@mistake(of="Tensor.transpose")
def transpose_backward_does_nothing(self, axis1, axis2):
    """The gradient goes through your transpose as it is: swap the axes back, or each number goes to another's place.
    Square matrices hide it from a look at shapes."""
    return Tensor(self.data.swapaxes(axis1, axis2), (self,), lambda upstream: (upstream,))


@mistake(of="Tensor.transpose")
def transpose_backward_is_a_reshape(self, axis1, axis2):
    """Your transpose goes back as a reshape: the shape is right and the numbers stand in each other's places. Swap the
    axes back."""
    before = self.data.shape
    return Tensor(self.data.swapaxes(axis1, axis2), (self,), lambda upstream: (upstream.reshape(before),))


@mistake(of="Tensor.rows", trains="transformer_trained_on_its_gradients_beats_the_counts")
def gradient_of_repeated_rows_lost(self, ids):
    """The gradient of your look-up is that of the last place of each id: an indexed += does not add up repeated ids. A
    row that was used five times collects five gradients."""
    table = self.data

    def backward(upstream):
        collected = np.zeros_like(table)
        collected[ids] += upstream
        return (collected,)

    return Tensor(table[ids], (self,), backward)


@mistake(of="Tensor.rows")
def gradient_of_rows_averaged(self, ids):
    """The gradient of your look-up is averaged over the places of an id: each of them had its effect, so they are
    summed."""
    table = self.data

    def backward(upstream):
        collected = np.zeros_like(table)
        np.add.at(collected, ids, upstream)
        times = np.maximum(np.bincount(np.ravel(ids), minlength=len(table)), 1)
        return ((collected.T / times).T.astype(table.dtype),)

    return Tensor(table[ids], (self,), backward)


# Level 3: one number at a time


@mistake(of="Tensor.tanh")
def tanh_slope_of_its_input(self):
    """These are exactly the gradients you get when the slope of tanh is taken as 1 - x² of what went in: it is 1 - t²
    of what came out."""
    x = self.data
    return Tensor(np.tanh(x), (self,), lambda upstream: (upstream * (1 - x * x),))


@mistake(of="Tensor.tanh")
def tanh_slope_not_squared(self):
    """These are exactly the gradients you get with the slope 1 - t: the slope of tanh is 1 - t²."""
    t = np.tanh(self.data)
    return Tensor(t, (self,), lambda upstream: (upstream * (1 - t),))


@mistake(of="Tensor.gelu")
def gelu_backward_without_the_inner_part(self, right=Tensor.gelu):
    """These are exactly the gradients you get with the slope (1 + t)/2 alone: x stands in t as well, and that second
    term of the product rule is missing."""
    x, c = self.data, math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x * x * x))
    return Tensor(right(self).data, (self,), lambda upstream: (upstream * 0.5 * (1 + t),))


@mistake(of="Tensor.gelu")
def gelu_inner_slope_without_the_three(self, right=Tensor.gelu):
    """These are exactly the gradients you get when the slope of x³ is taken as x²: it is 3 x²."""
    x, c = self.data, math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x * x * x))
    slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 0.044715 * x * x)
    return Tensor(right(self).data, (self,), lambda upstream: (upstream * slope,))


@mistake(of="Tensor.gelu")
def gelu_inner_slope_without_the_root(self, right=Tensor.gelu):
    """These are exactly the gradients you get when the factor sqrt(2/pi) is lost on the way back: it stands inside of
    tanh, so the chain rule brings it out."""
    x, c = self.data, math.sqrt(2 / math.pi)
    t = np.tanh(c * (x + 0.044715 * x * x * x))
    slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (1 + 3 * 0.044715 * x * x)
    return Tensor(right(self).data, (self,), lambda upstream: (upstream * slope,))


@mistake(of="Tensor.gelu")
def gelu_with_erf(self):
    """These are exactly the numbers of the GELU with the error function: this part asks for the tanh form, which
    differs by up to 5e-4."""
    x = self.data
    flat = [0.5 * (1 + math.erf(value / math.sqrt(2))) for value in np.ravel(x)]
    phi = np.array(flat, dtype=x.dtype).reshape(x.shape)
    slope = phi + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return Tensor(x * phi, (self,), lambda upstream: (upstream * slope,))


@mistake(of="Tensor.gelu")
def gelu_with_sigmoid(self):
    """These are exactly the numbers of x times sigmoid(1.702 x): a cruder form than the one with tanh, off by up to
    0.02."""
    x = self.data
    s = 0.5 * (1 + np.tanh(0.851 * x))
    slope = s + 1.702 * x * s * (1 - s)
    return Tensor(x * s, (self,), lambda upstream: (upstream * slope,))


# Level 3: layer norm


@mistake(of="Tensor.layer_norm")
def norm_backward_keeps_the_stretch(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """These are exactly the gradients you get without the term with x̂ · mean(u · x̂): sigma depends on x as well. The
    output does not change when a row is stretched, so that part of the gradient is taken out."""
    centred = self.data - self.data.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)
    w, result = weight.data, right(self, weight, bias, eps)

    def backward(upstream):
        u = upstream * w
        return scale * (u - u.mean(axis=-1, keepdims=True)), *result._backward(upstream)[1:]

    return Tensor(result.data, (self, weight, bias), backward)


@mistake(of="Tensor.layer_norm")
def norm_backward_keeps_the_shift(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """These are exactly the gradients you get without the term mean(u): the mean depends on x as well. The output does
    not change when a row is shifted, so that part of the gradient is taken out."""
    centred = self.data - self.data.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)
    h, w, result = centred * scale, weight.data, right(self, weight, bias, eps)

    def backward(upstream):
        u = upstream * w
        return scale * (u - h * (u * h).mean(axis=-1, keepdims=True)), *result._backward(upstream)[1:]

    return Tensor(result.data, (self, weight, bias), backward)


@mistake(of="Tensor.layer_norm")
def norm_statistics_taken_for_constants(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """These are exactly the gradients you get when mean and sigma are taken for constants: both are made of x, and two
    terms of the gradient come from them."""
    centred = self.data - self.data.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)
    w, result = weight.data, right(self, weight, bias, eps)
    return Tensor(result.data, (self, weight, bias), lambda u: (scale * u * w, *result._backward(u)[1:]))


@mistake(of="Tensor.layer_norm")
def norm_weight_forgotten_on_the_way_back(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """These are exactly the gradients you get when the weight is left out on the way to x: what arrives at the
    normalised row is the upstream times the weight. With weights of one you do not see it."""
    result = right(self, weight, bias, eps)
    plain = right(self, Tensor(np.ones_like(weight.data)), bias, eps)

    def backward(upstream):
        return plain._backward(upstream)[0], *result._backward(upstream)[1:]

    return Tensor(result.data, (self, weight, bias), backward)


@mistake(of="Tensor.layer_norm")
def norm_weight_gradient_without_the_row(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """The gradient of your weight is the summed upstream, as for the bias: the weight was multiplied with the
    normalised row, so that stands in its gradient."""
    result = right(self, weight, bias, eps)

    def backward(upstream):
        d_self, _, d_bias = result._backward(upstream)
        return d_self, d_bias, d_bias

    return Tensor(result.data, (self, weight, bias), backward)


@mistake(of="Tensor.layer_norm")
def norm_weight_gradient_averaged(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """The gradients of your weight and bias are averaged over the rows: they act in every row, so they are summed."""
    result = right(self, weight, bias, eps)
    n_rows = self.data.size // self.data.shape[-1]

    def backward(upstream):
        d_self, d_weight, d_bias = result._backward(upstream)
        return d_self, d_weight / n_rows, d_bias / n_rows

    return Tensor(result.data, (self, weight, bias), backward)


@mistake(of="Tensor.layer_norm")
def norm_weight_gradient_summed_over_one_axis(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """The gradients of your weight and bias are summed over the first axis only: whatever stands before the last axis
    is rows, so all of these axes are summed."""
    result = right(self, weight, bias, eps)
    centred = self.data - self.data.mean(axis=-1, keepdims=True)
    h = centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps)

    def backward(upstream):
        return result._backward(upstream)[0], (upstream * h).sum(axis=0), upstream.sum(axis=0)

    return Tensor(result.data, (self, weight, bias), backward)


@mistake(of="Tensor.layer_norm")
def norm_eps_outside_of_the_root(self, weight, bias, eps=1e-5):
    """These are exactly the numbers you get when eps is added to sigma: it is added to the variance, under the root."""
    w = weight.data
    centred = self.data - self.data.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
    h = centred / (sigma + eps)

    def backward(upstream):
        u = upstream * w
        inner = centred / sigma * (u * h).mean(axis=-1, keepdims=True)
        d_self = (u - u.mean(axis=-1, keepdims=True) - inner) / (sigma + eps)
        return d_self, unbroadcast(upstream * h, w.shape), unbroadcast(upstream, w.shape)

    return Tensor(h * w + bias.data, (self, weight, bias), backward)


@mistake(of="Tensor.layer_norm")
def norm_ignores_eps(self, weight, bias, eps=1e-5, right=Tensor.layer_norm):
    """These are exactly the numbers for eps = 1e-5, whatever eps was asked for."""
    return right(self, weight, bias)


@mistake(of="Tensor.layer_norm")
def norm_with_unbiased_variance(self, weight, bias, eps=1e-5):
    """These are exactly the numbers you get when the variance is divided by E - 1: layer norm divides by E."""
    w, n = weight.data, self.data.shape[-1]
    centred = self.data - self.data.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((centred * centred).sum(axis=-1, keepdims=True) / (n - 1) + eps)
    h = centred * scale

    def backward(upstream):
        u = upstream * w
        inner = h * (u * h).sum(axis=-1, keepdims=True) / (n - 1)
        d_self = scale * (u - u.mean(axis=-1, keepdims=True) - inner)
        return d_self, unbroadcast(upstream * h, w.shape), unbroadcast(upstream, w.shape)

    return Tensor(h * w + bias.data, (self, weight, bias), backward)


# Level 3: mask, softmax, loss


@mistake(of="Tensor.causal_mask")
def mask_lets_the_gradient_through(self):
    """The gradient goes through your mask as it is: a score that was overwritten has no influence, so its gradient is
    exactly 0. Behind a softmax you do not see it."""
    allowed = np.tri(self.data.shape[-1], dtype=bool)
    return Tensor(np.where(allowed, self.data, -np.inf), (self,), lambda upstream: (upstream,))


@mistake(of="Tensor.causal_mask")
def mask_hides_the_past(self):
    """Your mask is turned: it hides what is below the diagonal. Rows ask and columns are asked, so what lies above the
    diagonal is the future."""
    allowed = np.tri(self.data.shape[-1], dtype=bool).T
    return Tensor(np.where(allowed, self.data, -np.inf), (self,), lambda upstream: (np.where(allowed, upstream, 0.0),))


@mistake(of="Tensor.causal_mask")
def mask_hides_the_diagonal(self):
    """Your mask hides the diagonal: a position may read itself, and the first one has nothing else."""
    allowed = np.tri(self.data.shape[-1], k=-1, dtype=bool)
    return Tensor(np.where(allowed, self.data, -np.inf), (self,), lambda upstream: (np.where(allowed, upstream, 0.0),))


@mistake(of="Tensor.causal_mask")
def mask_one_too_wide(self):
    """Your mask lets each position read the one after it: the triangle begins one diagonal too late."""
    allowed = np.tri(self.data.shape[-1], k=1, dtype=bool)
    return Tensor(np.where(allowed, self.data, -np.inf), (self,), lambda upstream: (np.where(allowed, upstream, 0.0),))


@mistake(of="Tensor.causal_mask")
def mask_fills_with_zero(self):
    """Your mask writes 0: that is a score like any other, and its share is not 0. Minus infinity is what exp turns into
    nothing."""
    allowed = np.tri(self.data.shape[-1], dtype=bool)
    return Tensor(np.where(allowed, self.data, 0.0), (self,), lambda upstream: (np.where(allowed, upstream, 0.0),))


@mistake(of="Tensor.causal_mask")
def mask_fills_with_a_large_number(self):
    """Your mask writes a large negative number where the contract says minus infinity: the first is a score that is
    usually low, the second is no score."""
    allowed = np.tri(self.data.shape[-1], dtype=bool)
    return Tensor(np.where(allowed, self.data, -1e9), (self,), lambda upstream: (np.where(allowed, upstream, 0.0),))


@mistake(of="Tensor.causal_mask")
def mask_written_into_the_scores(self):
    """Your mask writes into the scores that it was given: they belong to the tensor before it. Work on a copy."""
    allowed = np.tri(self.data.shape[-1], dtype=bool)
    self.data[..., ~allowed] = -np.inf
    return Tensor(self.data, (self,), lambda upstream: (np.where(allowed, upstream, 0.0),))


@mistake(of="Tensor.softmax_rows")
def softmax_backward_without_the_average(self, right=Tensor.softmax_rows):
    """These are exactly the gradients you get when only share times upstream is sent back: from each upstream, the
    average that the row pays is subtracted, since shares always sum to 1."""
    shares = right(self).data
    return Tensor(shares, (self,), lambda upstream: (shares * upstream,))


@mistake(of="Tensor.softmax_rows")
def softmax_backward_sends_nothing(self, right=Tensor.softmax_rows):
    """Your softmax sends zeros back: that is right for an upstream of ones only, because shares always sum to 1."""
    return Tensor(right(self).data, (self,), lambda upstream: (np.zeros_like(upstream),))


@mistake(of="Tensor.softmax_rows")
def softmax_backward_of_the_diagonal(self, right=Tensor.softmax_rows):
    """These are exactly the gradients you get with the diagonal of the Jacobian alone, w(1 - w): a score moves the other
    shares of its row as well."""
    shares = right(self).data
    return Tensor(shares, (self,), lambda upstream: (shares * (1 - shares) * upstream,))


@mistake(of="Tensor.softmax_rows")
def softmax_backward_with_a_plain_average(self, right=Tensor.softmax_rows):
    """These are exactly the gradients you get when the plain mean of the upstream is subtracted: the average is that of
    the row's own shares."""
    shares = right(self).data
    return Tensor(shares, (self,), lambda u: (shares * (u - u.mean(axis=-1, keepdims=True)),))


@mistake(of="Tensor.softmax_rows")
def softmax_overflows(self, right=Tensor.softmax_rows):
    """Your softmax overflows where scores are in the hundreds: subtract each row's largest score before exp, which
    changes no share."""
    grown = np.exp(self.data)
    shares = grown / grown.sum(axis=-1, keepdims=True)
    return Tensor(shares, (self,), lambda u: (shares * (u - (u * shares).sum(axis=-1, keepdims=True)),))


@mistake(of="Tensor.softmax_rows")
def softmax_over_the_first_axis(self):
    """These are exactly the numbers you get when the softmax runs over the first axis: the shares of a row, along the
    last axis, sum to 1."""
    grown = np.exp(self.data - self.data.max(axis=0, keepdims=True))
    shares = grown / grown.sum(axis=0, keepdims=True)
    return Tensor(shares, (self,), lambda u: (shares * (u - (u * shares).sum(axis=0, keepdims=True)),))


@mistake(of="Tensor.cross_entropy")
def loss_ignores_its_upstream(self, targets, right=Tensor.cross_entropy):
    """Your cross_entropy sends the same gradient back whatever arrives: that is right only where the loss is the end of
    the graph. Multiply by the upstream."""
    result = right(self, targets)
    return Tensor(result.data, (self,), lambda upstream: result._backward(np.ones_like(upstream)))


@mistake(of="Tensor.cross_entropy")
def loss_averaged_over_the_first_axis(self, targets, right=Tensor.cross_entropy):
    """Your loss is divided by the length of the first axis: it is the mean over all predictions, however many axes they
    come in."""
    result = right(self, targets)
    factor = float(targets.size / len(targets))
    return Tensor(result.data * factor, (self,), lambda upstream: result._backward(upstream * factor))


@mistake(of="Tensor.cross_entropy")
def loss_is_a_sum(self, targets, right=Tensor.cross_entropy):
    """Your loss is the sum over all predictions: it is their mean, so that it does not depend on how many there are."""
    result = right(self, targets)
    factor = float(np.size(targets))
    return Tensor(result.data * factor, (self,), lambda upstream: result._backward(upstream * factor))


@mistake(of="Tensor.cross_entropy")
def loss_gradient_not_averaged(self, targets, right=Tensor.cross_entropy):
    """The gradient of your loss is not divided by the number of predictions, the loss itself is: a mean sends back one
    share to each."""
    result = right(self, targets)
    factor = float(np.size(targets))
    return Tensor(result.data, (self,), lambda upstream: result._backward(upstream * factor))


@mistake(of="Tensor.cross_entropy")
def loss_gradient_without_the_answer(self, targets, right=Tensor.cross_entropy):
    """The gradient of your loss is what was predicted, without subtracting what came: it pushes all scores down, that
    of the right answer too."""
    result = right(self, targets)
    shares = self.softmax_rows().data
    return Tensor(result.data, (self,), lambda upstream: (shares * (upstream / np.size(targets)),))


@mistake(of="Tensor.cross_entropy")
def loss_overflows(self, targets, right=Tensor.cross_entropy):
    """Your loss takes the logarithm of shares that are 0 or infinite where scores are in the hundreds: subtract each
    row's largest score, and take the logarithm before you would divide."""
    result = right(self, targets)
    grown = np.exp(self.data)
    shares = grown / grown.sum(axis=-1, keepdims=True)
    nats = -np.log(np.take_along_axis(shares, np.asarray(targets)[..., None], axis=-1))
    return Tensor(nats.mean(), (self,), result._backward)


@mistake(of="Tensor.cross_entropy")
def loss_in_bits(self, targets, right=Tensor.cross_entropy):
    """Your loss is in bits: nats have the natural logarithm."""
    result = right(self, targets)
    factor = float(1 / math.log(2))
    return Tensor(result.data * factor, (self,), lambda upstream: result._backward(upstream * factor))


@mistake(of="Tensor.cross_entropy")
def targets_of_any_shape(self, targets):
    """Your cross_entropy takes targets whose shape does not fit: flattened or broadcast, they judge the wrong
    predictions. Compare the shapes first."""
    flat = self.data.reshape(-1, self.data.shape[-1])
    ids = np.resize(np.ravel(targets), len(flat))
    shifted = flat - flat.max(axis=-1, keepdims=True)
    log_shares = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    row, shape = np.arange(len(flat)), self.data.shape

    def backward(upstream):
        gradient = np.exp(log_shares)
        gradient[row, ids] -= 1
        return ((gradient * (upstream / len(flat))).reshape(shape),)

    return Tensor(-log_shares[row, ids].mean(), (self,), backward)


# The transformer


@mistake(of="TransformerLM.attend")
def scores_not_scaled(self, x, block, B, T):
    """These are exactly the numbers you get when the scores are not divided by the root of a head's width."""
    E, p = x.data.shape[-1], self._parameters
    q, k, v = (x.matmul(p[f"blocks.{block}.{n}"]).reshape(B, T, self.n_heads, -1).transpose(1, 2) for n in "qkv")
    mixed = q.matmul(k.transpose(-1, -2)).causal_mask().softmax_rows().matmul(v)
    return mixed.transpose(1, 2).reshape(B * T, E).matmul(p[f"blocks.{block}.proj"])


@mistake(of="TransformerLM.attend")
def scores_scaled_by_width_of_model(self, x, block, B, T):
    """These are exactly the numbers you get when the scores are divided by the root of the model's width: a score is a
    sum over one head's columns."""
    E, p = x.data.shape[-1], self._parameters
    q, k, v = (x.matmul(p[f"blocks.{block}.{n}"]).reshape(B, T, self.n_heads, -1).transpose(1, 2) for n in "qkv")
    mixed = q.mul(E**-0.5).matmul(k.transpose(-1, -2)).causal_mask().softmax_rows().matmul(v)
    return mixed.transpose(1, 2).reshape(B * T, E).matmul(p[f"blocks.{block}.proj"])


@mistake(of="TransformerLM.attend")
def attention_not_masked(self, x, block, B, T):
    """These are exactly the numbers you get without the mask: every position then reads its own answer, one place to
    the right."""
    E, p = x.data.shape[-1], self._parameters
    q, k, v = (x.matmul(p[f"blocks.{block}.{n}"]).reshape(B, T, self.n_heads, -1).transpose(1, 2) for n in "qkv")
    scale = (E // self.n_heads) ** -0.5
    mixed = q.mul(scale).matmul(k.transpose(-1, -2)).softmax_rows().matmul(v)
    return mixed.transpose(1, 2).reshape(B * T, E).matmul(p[f"blocks.{block}.proj"])


@mistake(of="TransformerLM.attend")
def heads_not_swapped_back(self, x, block, B, T):
    """These are exactly the numbers you get when the heads are stacked without swapping their axis back behind the
    positions: rows of different positions, even later ones, are then glued together."""
    E, p = x.data.shape[-1], self._parameters
    q, k, v = (x.matmul(p[f"blocks.{block}.{n}"]).reshape(B, T, self.n_heads, -1).transpose(1, 2) for n in "qkv")
    scale = (E // self.n_heads) ** -0.5
    mixed = q.mul(scale).matmul(k.transpose(-1, -2)).causal_mask().softmax_rows().matmul(v)
    return mixed.reshape(B * T, E).matmul(p[f"blocks.{block}.proj"])


@mistake(of="TransformerLM.attend")
def heads_split_by_reshape_alone(self, x, block, B, T):
    """These are exactly the numbers you get when (B·T, E) is reshaped to (B, h, T, d) directly: reshape to (B, T, h, d)
    first, then swap, or a head holds pieces of several positions."""
    E, p = x.data.shape[-1], self._parameters
    q, k, v = (x.matmul(p[f"blocks.{block}.{n}"]).reshape(B, self.n_heads, T, -1) for n in "qkv")
    scale = (E // self.n_heads) ** -0.5
    mixed = q.mul(scale).matmul(k.transpose(-1, -2)).causal_mask().softmax_rows().matmul(v)
    return mixed.reshape(B * T, E).matmul(p[f"blocks.{block}.proj"])


@mistake(of="TransformerLM.attend")
def heads_interleaved(self, x, block, B, T):
    """These are exactly the numbers you get when the columns of the heads are interleaved: head 0 owns the first d
    columns, head 1 the next ones."""
    E, p = x.data.shape[-1], self._parameters

    def heads_of(name):
        rows = x.matmul(p[f"blocks.{block}.{name}"]).reshape(B, T, -1, self.n_heads)
        return rows.transpose(2, 3).transpose(1, 2)

    q, k, v = heads_of("q"), heads_of("k"), heads_of("v")
    scale = (E // self.n_heads) ** -0.5
    mixed = q.mul(scale).matmul(k.transpose(-1, -2)).causal_mask().softmax_rows().matmul(v)
    return mixed.transpose(1, 2).transpose(2, 3).reshape(B * T, E).matmul(p[f"blocks.{block}.proj"])


@mistake(of="TransformerLM.attend")
def projection_not_applied(self, x, block, B, T):
    """These are exactly the numbers you get when the heads' outputs are not projected: proj comes after they are laid
    side by side."""
    E, p = x.data.shape[-1], self._parameters
    q, k, v = (x.matmul(p[f"blocks.{block}.{n}"]).reshape(B, T, self.n_heads, -1).transpose(1, 2) for n in "qkv")
    scale = (E // self.n_heads) ** -0.5
    mixed = q.mul(scale).matmul(k.transpose(-1, -2)).causal_mask().softmax_rows().matmul(v)
    return mixed.transpose(1, 2).reshape(B * T, E)


@mistake(of="TransformerLM.attend")
def attention_of_the_first_block_everywhere(self, x, block, B, T, right=TransformerLM.attend):
    """These are exactly the numbers you get when every block uses the attention weights of block 0: each block has its
    own."""
    return right(self, x, 0, B, T)


@mistake(of="TransformerLM.logits")
def norm_after_the_addition(self, idx):
    """These are exactly the numbers of a post-norm transformer: here each sublayer reads a normed x, and its output is
    added to x as it stands."""
    B, T = idx.shape
    p = self._parameters
    x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(T))).reshape(B * T, -1)
    for i in range(self.n_blocks):
        own = f"blocks.{i}"
        x = x.add(self.attend(x, i, B, T)).layer_norm(p[f"{own}.ln1.weight"], p[f"{own}.ln1.bias"])
        wide = x.matmul(p[f"{own}.up"]).add(p[f"{own}.up_bias"]).gelu()
        x = x.add(wide.matmul(p[f"{own}.down"]).add(p[f"{own}.down_bias"]))
        x = x.layer_norm(p[f"{own}.ln2.weight"], p[f"{own}.ln2.bias"])
    x = x.layer_norm(p["ln_f.weight"], p["ln_f.bias"])
    return x.matmul(p["tok_emb"].transpose(0, 1)).reshape(B, T, -1)


@mistake(of="TransformerLM.logits")
def no_residual(self, idx):
    """These are exactly the numbers you get when a sublayer's output replaces x: it is added to x, so that every block
    can hand on what it was given."""
    B, T = idx.shape
    p = self._parameters
    x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(T))).reshape(B * T, -1)
    for i in range(self.n_blocks):
        own = f"blocks.{i}"
        x = self.attend(x.layer_norm(p[f"{own}.ln1.weight"], p[f"{own}.ln1.bias"]), i, B, T)
        x = x.layer_norm(p[f"{own}.ln2.weight"], p[f"{own}.ln2.bias"])
        wide = x.matmul(p[f"{own}.up"]).add(p[f"{own}.up_bias"]).gelu()
        x = wide.matmul(p[f"{own}.down"]).add(p[f"{own}.down_bias"])
    x = x.layer_norm(p["ln_f.weight"], p["ln_f.bias"])
    return x.matmul(p["tok_emb"].transpose(0, 1)).reshape(B, T, -1)


@mistake(of="TransformerLM.logits")
def normed_x_added(self, idx):
    """These are exactly the numbers you get when the sublayer's output is added to the normed x: it is added to x
    itself, or the stream is normalised twice in every block."""
    B, T = idx.shape
    p = self._parameters
    x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(T))).reshape(B * T, -1)
    for i in range(self.n_blocks):
        own = f"blocks.{i}"
        x = x.layer_norm(p[f"{own}.ln1.weight"], p[f"{own}.ln1.bias"])
        x = x.add(self.attend(x, i, B, T))
        x = x.layer_norm(p[f"{own}.ln2.weight"], p[f"{own}.ln2.bias"])
        wide = x.matmul(p[f"{own}.up"]).add(p[f"{own}.up_bias"]).gelu()
        x = x.add(wide.matmul(p[f"{own}.down"]).add(p[f"{own}.down_bias"]))
    x = x.layer_norm(p["ln_f.weight"], p["ln_f.bias"])
    return x.matmul(p["tok_emb"].transpose(0, 1)).reshape(B, T, -1)


@mistake(of="TransformerLM.logits")
def last_norm_missing(self, idx):
    """These are exactly the numbers you get without the last norm: ln_f stands between the blocks and the output."""
    B, T = idx.shape
    p = self._parameters
    x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(T))).reshape(B * T, -1)
    for i in range(self.n_blocks):
        own = f"blocks.{i}"
        normed = x.layer_norm(p[f"{own}.ln1.weight"], p[f"{own}.ln1.bias"])
        x = x.add(self.attend(normed, i, B, T))
        normed = x.layer_norm(p[f"{own}.ln2.weight"], p[f"{own}.ln2.bias"])
        wide = normed.matmul(p[f"{own}.up"]).add(p[f"{own}.up_bias"]).gelu()
        x = x.add(wide.matmul(p[f"{own}.down"]).add(p[f"{own}.down_bias"]))
    return x.matmul(p["tok_emb"].transpose(0, 1)).reshape(B, T, -1)


@mistake(of="TransformerLM.logits")
def activation_missing(self, idx):
    """These are exactly the numbers you get without gelu between up and down: two products in a row are one product."""
    B, T = idx.shape
    p = self._parameters
    x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(T))).reshape(B * T, -1)
    for i in range(self.n_blocks):
        own = f"blocks.{i}"
        normed = x.layer_norm(p[f"{own}.ln1.weight"], p[f"{own}.ln1.bias"])
        x = x.add(self.attend(normed, i, B, T))
        normed = x.layer_norm(p[f"{own}.ln2.weight"], p[f"{own}.ln2.bias"])
        wide = normed.matmul(p[f"{own}.up"]).add(p[f"{own}.up_bias"])
        x = x.add(wide.matmul(p[f"{own}.down"]).add(p[f"{own}.down_bias"]))
    x = x.layer_norm(p["ln_f.weight"], p["ln_f.bias"])
    return x.matmul(p["tok_emb"].transpose(0, 1)).reshape(B, T, -1)


@mistake(of="TransformerLM.logits")
def positions_not_added(self, idx, right=TransformerLM.logits):
    """These are exactly the numbers you get without the position vectors: attention alone does not know where a token
    stands."""
    kept = self._parameters["pos_emb"]
    self._parameters["pos_emb"] = Tensor(np.zeros_like(kept.data))
    try:
        return right(self, idx)
    finally:
        self._parameters["pos_emb"] = kept


@mistake(of="TransformerLM.logits")
def output_cut_off_from_the_table(self, idx):
    """The gradient of your token table comes from the look-up only: the output uses its numbers, but through a new
    tensor that does not remember where they came from. Transpose the tensor itself."""
    B, T = idx.shape
    p = self._parameters
    x = p["tok_emb"].rows(idx).add(p["pos_emb"].rows(np.arange(T))).reshape(B * T, -1)
    for i in range(self.n_blocks):
        own = f"blocks.{i}"
        normed = x.layer_norm(p[f"{own}.ln1.weight"], p[f"{own}.ln1.bias"])
        x = x.add(self.attend(normed, i, B, T))
        normed = x.layer_norm(p[f"{own}.ln2.weight"], p[f"{own}.ln2.bias"])
        wide = normed.matmul(p[f"{own}.up"]).add(p[f"{own}.up_bias"]).gelu()
        x = x.add(wide.matmul(p[f"{own}.down"]).add(p[f"{own}.down_bias"]))
    x = x.layer_norm(p["ln_f.weight"], p["ln_f.bias"])
    return x.matmul(Tensor(p["tok_emb"].data.T)).reshape(B, T, -1)


@mistake(of="TransformerLM.parameters")
def parameters_are_copies(self):
    """Your parameters() makes new tensors each time: whoever sets their data or reads their gradients has others than
    those that the model uses."""
    return {name: Tensor(p.data.copy()) for name, p in self._parameters.items()}


@mistake(of="TransformerLM.loss")
def targets_shifted_once_more(self, idx, targets):
    """These are exactly the numbers you get when the targets are shifted inside of loss: they come as the token after
    each position already."""
    logits = self.logits(idx)
    return logits.cross_entropy(np.roll(targets, -1, axis=1))
