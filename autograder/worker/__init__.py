"""What runs beside student code, and nothing else does.

A ``Session`` holds one student's modules and answers requests about them. In a sandboxed process ``serve`` feeds
it from a socket; on a student's own machine (``--pdb``) and for our own solutions it is called in process.
"""

from autograder.worker.session import Session

__all__ = ["Session"]
