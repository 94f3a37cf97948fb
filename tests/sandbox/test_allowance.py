"""The time of a check: spent by the code, not by a busy machine, and bounded by processor time."""

import time

import pytest

from autograder.sandbox.allowance import Allowance


class Clocks:
    """What the system says of a process."""

    def __init__(self) -> None:
        self.waited, self.cpu, self.readings = 5.0, 7.0, 0

    def waited_s(self) -> float:
        self.readings += 1
        return self.waited

    def cpu_s(self) -> float:
        return self.cpu


def test_time_passes_only_while_it_is_entered():
    allowance = Allowance(Clocks(), 0.2)
    for _ in range(3):
        with allowance:
            assert allowance.left_s() > 0.05  # 0.2 s less what three entries took
        time.sleep(0.1)


def test_the_requests_of_a_check_share_its_time():
    allowance = Allowance(Clocks(), 0.1)
    with allowance:
        time.sleep(0.06)
        assert allowance.left_s() < 0.05
    with allowance:
        time.sleep(0.06)
        with pytest.raises(TimeoutError):
            allowance.left_s()


def test_what_the_machine_took_is_given_back_once():
    clocks = Clocks()
    allowance = Allowance(clocks, 0.001)
    clocks.waited += 0.5
    with allowance:
        time.sleep(0.002)
        assert allowance.left_s() == 0.5
        time.sleep(0.5)
        with pytest.raises(TimeoutError):
            allowance.left_s()
    assert allowance.owed_s == 0.5


def test_a_busy_machine_is_no_excuse_where_the_processor_time_is_spent():
    clocks = Clocks()
    allowance = Allowance(clocks, 0.001)
    clocks.waited += 0.5
    clocks.cpu += 1e-3
    with allowance:
        time.sleep(0.002)
        with pytest.raises(TimeoutError):
            allowance.left_s()


def test_the_system_is_not_asked_before_the_time_is_over():
    clocks = Clocks()
    allowance = Allowance(clocks, 60.0)
    asked = clocks.readings
    for _ in range(5):
        with allowance:
            allowance.left_s()
    assert clocks.readings == asked
