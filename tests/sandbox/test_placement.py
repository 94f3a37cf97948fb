"""A grader and its worker are kept on one processor, and nobody else's place is changed."""

import os
import sys

import pytest

from autograder.records import Limits
from autograder.sandbox import ForkServer, Placement, choose_rung, placement

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="there is one processor, or no say in it"
)


@pytest.fixture
def clocks(monkeypatch):
    """Set what this process ran and waited, in nanoseconds."""
    now = [0, 0]
    monkeypatch.setattr(placement, "_clocks", lambda: tuple(now))
    return now


@pytest.fixture
def placed(clocks):
    before = os.sched_getaffinity(0)
    found = Placement()
    yield found
    found.release()
    assert os.sched_getaffinity(0) == before


def test_this_process_stays_where_it_is_and_its_worker_is_put_there(placed, clocks):
    clocks[:] = [1_000, 200]  # a sixth of the time it had to wait
    (here,) = placed.choose()
    assert os.sched_getaffinity(0) == {here}
    with ForkServer(()) as server:
        rung = choose_rung(server, Limits(), [], unsafe=True)[0]
        worker = server.worker(rung, Limits(), (), [here])
        assert os.sched_getaffinity(worker._pieces.pid) == {here}
        worker.close()


def test_a_crowded_processor_is_left_to_the_kernels_choice_and_a_new_one_taken_afterwards(placed, clocks):
    allowed = os.sched_getaffinity(0)
    assert len(placed.choose()) == 1
    clocks[:] = [1_000, 600]
    assert set(placed.choose()) == allowed == os.sched_getaffinity(0)
    clocks[:] = [2_000, 700]
    assert len(placed.choose()) == 1


def test_where_only_one_processor_is_allowed_nothing_is_changed():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert Placement().choose() == []
        assert os.sched_getaffinity(0) == {min(allowed)}
    finally:
        os.sched_setaffinity(0, allowed)


def test_a_system_that_refuses_to_place_processes_is_left_alone(placed, monkeypatch):
    def refuse(*_):
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(os, "sched_setaffinity", refuse)
        assert placed.choose() == []
        placed.release()
