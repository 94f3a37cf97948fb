"""A value arrives as it was sent, stays behind as a handle, or is too much and refused in words."""

import math
from collections import OrderedDict

import numpy as np
import pytest
import torch
from wire_bytes import SMALL, reader, refuse

from autograder.wire import REPLY_LIMITS, Array, Opaque, decode, encode, pack, read_frame


def through(value, handle_of=refuse):
    """Send a value over the wire and read it again."""
    arrays: list[Array] = []
    frame = pack({"value": encode(value, arrays, handle_of)}, arrays)
    header, back = read_frame(reader(frame), REPLY_LIMITS)
    return decode(header["value"], back)


# -- values that arrive as they were sent --------------------------------------------------------------------------


DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0,), (2, 0, 3), (1,) * 12])
def test_a_tensor_of_every_dtype_and_shape_comes_back_bit_for_bit(dtype, shape):
    sent = (torch.arange(math.prod(shape)).reshape(shape) % 5 - 2).to(getattr(torch, dtype))
    got = through(sent)
    assert type(got) is torch.Tensor
    assert (got.shape, got.dtype, got.device) == (sent.shape, sent.dtype, sent.device)
    assert torch.equal(got, sent)


@pytest.mark.parametrize(
    "sent",
    [
        torch.arange(12.0).reshape(3, 4).t(),
        torch.arange(12.0)[::3],
        torch.arange(6.0).expand(4, 6),
        torch.arange(4.0).flip(0),
        torch.tensor([1 + 2j, 3 - 4j]).conj().imag,
        torch._neg_view(torch.arange(3.0)),
    ],
    ids=["transposed", "strided", "expanded", "flipped", "imaginary part", "negative view"],
)
def test_a_tensor_comes_back_whatever_its_strides(sent):
    assert torch.equal(through(sent), sent)


def test_nan_keeps_its_place_and_infinities_their_sign():
    sent = torch.tensor([math.nan, math.inf, -math.inf, -0.0])
    got = through(sent)
    assert got.view(torch.int32).tolist() == sent.view(torch.int32).tolist()


def test_what_comes_back_is_fresh_and_writable():
    sent = torch.zeros(3)
    got, array = through(sent), through(np.zeros(3))
    got.add_(1)
    array += 1
    assert sent.sum() == 0


def test_requires_grad_is_told_and_not_kept():
    got = through(torch.zeros(2, requires_grad=True))
    assert got.student_requires_grad is True
    assert got.requires_grad is False
    assert not hasattr(through(torch.zeros(2)), "student_requires_grad")


def test_a_parameter_is_read_as_the_tensor_that_it_holds():
    got = through(torch.nn.Parameter(torch.ones(2)))
    assert type(got) is torch.Tensor
    assert got.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bfloat16"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_an_array_of_every_dtype_and_shape_comes_back(dtype, shape):
    sent = np.asarray(np.arange(math.prod(shape)).reshape(shape) % 3).astype(dtype)
    got = through(sent)
    assert type(got) is np.ndarray
    assert (got.shape, got.dtype) == (sent.shape, sent.dtype)
    assert (got == sent).all()


def test_an_array_comes_back_whatever_its_strides_and_byte_order():
    for sent in (np.arange(12.0).reshape(3, 4).T, np.arange(6)[::-2], np.arange(3, dtype=">f4")):
        got = through(sent)
        assert (got == sent).all()
        assert got.dtype.name == sent.dtype.name


@pytest.mark.parametrize(
    "number",
    [np.float64(0.1), np.float32(0.5), np.float16(2), np.int64(7), np.int32(-7), np.bool_(True), np.float64("inf")],
)
def test_a_number_of_numpy_is_a_number(number):
    got = through(number)
    assert type(got) in (bool, int, float)
    assert got == number.item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64, torch.bfloat16])
def test_a_dtype_comes_back_as_itself(dtype):
    assert through(dtype) is dtype


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**63, 2**64 - 1])
def test_a_generator_draws_the_same_numbers_on_the_other_side(seed):
    sent = torch.Generator().manual_seed(seed)
    assert torch.equal(torch.rand(4, generator=through(sent)), torch.rand(4, generator=sent))


def test_a_meta_tensor_keeps_shape_and_dtype_and_has_no_bytes():
    got = through(torch.empty(2**40, 3, dtype=torch.float16, device="meta"))
    assert (got.shape, got.dtype, got.device.type) == ((2**40, 3), torch.float16, "meta")


def test_a_size_is_a_tuple_and_an_ordered_dict_is_a_dict():
    assert through(torch.zeros(2, 3).shape) == (2, 3)
    got = through(OrderedDict(b=1, a=2))
    assert type(got) is dict
    assert list(got) == ["b", "a"]


class Liar(torch.Tensor):
    """Agrees with everything."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True


class MyTensor(torch.Tensor):
    """A tensor, but not exactly."""


class TensorList(list):
    """Not a list, exactly."""


class Number(float):
    """Not a float, exactly."""


class FakeOrderedDict:
    """Called like a dict that is known."""


FakeOrderedDict.__name__ = "OrderedDict"


@pytest.mark.parametrize(
    "value",
    [
        torch.zeros(2).as_subclass(Liar),
        torch.zeros(2).as_subclass(MyTensor),
        TensorList([1]),
        Number(1.0),
        FakeOrderedDict(),
        torch.zeros(2, dtype=torch.complex64),
        torch.zeros(2, 2).to_sparse(),
        torch.zeros((1,) * 13),
        np.array(["text"]),
        np.array([object()]),
        object(),
        {1, 2},
        torch.nn.Linear(1, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_exact_types_cross_and_all_else_stays_as_a_handle(value):
    kept = []

    def handle_of(thing):
        kept.append(thing)
        return {"handle": [7, "Thing"]}

    assert through(value, handle_of) == Opaque(7, "Thing")
    assert kept[0] is value


# -- values that are too much to be sent ---------------------------------------------------------------------------


def test_a_value_that_holds_itself_is_refused_in_words():
    loop = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested more than"):
        encode(loop, [], refuse)


def test_a_value_of_too_many_parts_is_refused_in_words():
    with pytest.raises(ValueError, match="more than 200000 parts"):
        encode([0] * 200_001, [], refuse)


def test_an_integer_that_json_cannot_carry_is_refused_in_words():
    assert through(-(10**3999)) == -(10**3999)
    for number in (10**4000, -(10**5000)):
        with pytest.raises(ValueError, match="more than 4000 digits"):
            encode(number, [], refuse)


def test_a_frame_that_the_receiver_would_not_take_is_not_sent():
    with pytest.raises(ValueError, match="larger than the receiver accepts"):
        pack({"value": "x" * SMALL.header_bytes}, [], SMALL)
    with pytest.raises(ValueError, match="larger than the receiver accepts"):
        pack({}, [Array("uint8", (SMALL.body_bytes,), b"x" * SMALL.body_bytes)], SMALL)
