"""A fork server for each file's tests, and the rungs of this machine.

Most workers here come from a server without torch, which starts at once.
"""

import pytest
from sandbox_workers import LIMITS

from autograder.sandbox import ForkServer, choose_rung, probe_rung


@pytest.fixture(scope="module")
def server():
    with ForkServer(()) as started:
        yield started


@pytest.fixture(scope="module")
def rung(server):
    """The best rung of this machine."""
    return choose_rung(server, LIMITS, [], unsafe=True)[0]


@pytest.fixture(params=[1, 2])
def each_rung(request, server):
    """Each rung that this machine can have at all."""
    report = probe_rung(server, request.param, LIMITS, [])
    if report.problem:
        pytest.skip(f"rung {request.param} cannot be had here: {report.problem}")
    return request.param
