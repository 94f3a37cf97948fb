"""Check a part from inside its notebook, in JupyterLab, VS Code or Colab: ``check("part3", "attention")``.

executed (which cells were run, as a module) ─▶ checker ─▶ serve (a process of its own: the line of ``gpt-hw test``)
─▶ page (HTML) and text. ``earlier`` lets one notebook import another.

Importing this package inside IPython starts to watch which cells are run, and warms the process that checks.
"""

from autograder.notebook.checking import ChecksFailed, check, watch

__all__ = ["ChecksFailed", "check"]

watch()
