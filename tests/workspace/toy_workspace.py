"""A toy template of one part, as text and as a notebook."""

import json

TEMPLATE = '''\
"""Attention."""

def attention(q, k, v):
    """Mix."""
    raise NotImplementedError("part3: attention is not written yet")


class Head:
    def forward(self, x):
        raise NotImplementedError("part3: Head.forward is not written yet")
'''


MODULE = "part3_attention"


def notebook(*cells: str, outputs: str = "") -> str:
    code = [
        {"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": [outputs], "metadata": {}}
        for cell in cells
    ]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": "# Text"}, *code], "nbformat": 4})
