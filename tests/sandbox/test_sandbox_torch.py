"""A worker that has torch in it is shut in and limited as one without."""

import sys

import pytest
from sandbox_workers import SUITES, Run

from autograder.records import Limits
from autograder.sandbox import ForkServer, probe_rung

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's")


@pytest.fixture(scope="module")
def torch_server():
    with ForkServer(("torch",)) as started:
        yield started


def test_every_probe_is_stopped_in_a_worker_that_has_torch(torch_server, each_rung):
    assert probe_rung(torch_server, each_rung, Limits(), [SUITES]).broken == ""


def test_torch_over_the_limit_is_an_exception_too(torch_server, rung):
    text = "import torch\ndef f():\n    return torch.ones(2**30)\ndef g():\n    return torch.ones(2).softmax(-1)\n"
    with Run(torch_server, rung, text) as run:
        assert "can't allocate memory" in run.call("f")["error"]["message"]
        assert "value" in run.call("g")
