"""The proof that the suites are right: every check catches what it should, and nothing else.

``trials`` runs suites on trusted text, many seeds and two numbers of threads; ``wall`` grades the same texts as real
submissions; ``verdict`` says what falls short; ``table`` writes the kill table.
"""

from autograder.prove.verdict import Proof, prove

__all__ = ["Proof", "prove"]
