"""The wall: a fork server, workers that are shut in, and the self-test that says how well."""

from autograder.sandbox.client import ForkServer, Worker
from autograder.sandbox.placement import Placement
from autograder.sandbox.wall import RUNG_NAMES, UNSAFE, RungReport, choose_rung, probe_rung

__all__ = ["RUNG_NAMES", "UNSAFE", "ForkServer", "Placement", "RungReport", "Worker", "choose_rung", "probe_rung"]
