# -*- coding: latin-1 -*-
"""Umlauts with a coding line: äöü."""

# INSERT right
