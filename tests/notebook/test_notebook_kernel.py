"""Check cells in a real kernel, driven as JupyterLab, or an editor that does not name its cells, drives it."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer
from time import perf_counter
from typing import Any

import pytest
from notebook_cells import ATTENTION, CHECK, IMPORTS, ROOT, TEMPLATE, code_cells, make_workspace, solved

jupyter_client = pytest.importorskip("jupyter_client", reason="needs the extra 'notebook'")
pytest.importorskip("ipykernel", reason="needs the extra 'notebook'")

from jupyter_core.utils import ensure_event_loop  # noqa: E402  # comes with jupyter_client

WAIT_S = 120

pytestmark = pytest.mark.slow


class Kernel:
    """A kernel in a student's folder, and what its cells show."""

    def __init__(self, folder: Path) -> None:
        self._manager = jupyter_client.KernelManager(kernel_name="python3")
        self._manager.start_kernel(cwd=str(folder))
        self._client = self._manager.blocking_client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=WAIT_S)

    def run(self, source: str, cell: str | None = None, deleted: list[str] | None = None) -> "Shown":
        """Run a cell; ``cell`` is its id where the editor tells it, ``deleted`` the cells that are gone."""
        content = {"code": source, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        metadata = {"cellId": cell, "deletedCells": deleted or []} if cell else {}
        message = self._client.session.msg("execute_request", content, metadata=metadata)
        self._client.shell_channel.send(message)
        shown = Shown()
        while True:
            answer = self._client.get_iopub_msg(timeout=WAIT_S)
            if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            kind, told = answer["msg_type"], answer["content"]
            if kind == "status" and told["execution_state"] == "idle":
                break
            if kind == "display_data":
                shown.html += told["data"].get("text/html", "")
                shown.text += told["data"].get("text/plain", "")
            elif kind == "stream":
                shown.printed += told["text"]
            elif kind == "error":
                shown.error = f"{told['ename']}: {told['evalue']}"
                shown.traceback = "\n".join(told["traceback"])
        self._client.get_shell_msg(timeout=WAIT_S)
        return shown

    def interrupt(self) -> None:
        os.kill(self._manager.provisioner.pid, signal.SIGINT)

    def close(self) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)


class Shown:
    """What stands under a cell."""

    html = text = printed = error = traceback = ""

    @property
    def summary(self) -> str:
        found = re.search(r"(\d+) of (\d+) public checks pass", self.text)
        return found[0] if found else ""


@pytest.fixture(scope="module", autouse=True)
def loop() -> Iterator[None]:
    """The event loop that jupyter_client makes for itself and leaves open."""
    yield
    ensure_event_loop().close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    running = Kernel(make_workspace(tmp_path_factory.mktemp("workspace")))
    running.run("from autograder.notebook import check, checking")
    yield running
    running.close()


@pytest.fixture
def kernel(shared: Kernel) -> Kernel:
    """A kernel in which no cell counts as run yet; to start one for each test would take seconds."""
    shared.run("checking._desk.executed.__init__(); checking._desk.part = None")
    return shared


def run_all(kernel: Kernel, cells: list[dict[str, Any]]) -> dict[str, Shown]:
    """Run cells from top to bottom; what each shows, by its last line."""
    return {cell["source"].splitlines()[-1].strip(): kernel.run(cell["source"], cell["id"]) for cell in cells}


WRONG = ATTENTION.replace("scaled_scores(q, k)", "q @ k.mT")
ALL_PASS = "5 of 5 public checks pass"
SOME_FAIL = "2 of 5 public checks pass"


def test_a_solved_notebook_passes_and_a_check_answers_soon(kernel: Kernel) -> None:
    shown = run_all(kernel, solved("part3_attention"))
    assert not [one.error for one in shown.values() if one.error]
    assert shown[CHECK].summary == ALL_PASS
    assert shown['check("part3")'].summary == "10 of 10 public checks pass"
    assert "gives what the fused kernel gives" in shown['check("part3", "Head")'].html
    assert "Seven keys" not in shown['check("part3", "Head")'].html
    seconds = []
    for _ in range(3):
        started = perf_counter()
        kernel.run(CHECK, "c")
        seconds.append(perf_counter() - started)
    assert min(seconds) < 2


def test_the_template_fails_in_words(kernel: Kernel) -> None:
    for cell in code_cells("part3_attention"):
        shown = kernel.run(cell["source"], cell["id"])
        if cell["metadata"].get("gpt_hw", {}).get("role") == "check":
            assert not shown.error
            assert not shown.printed
            assert "not written yet" in shown.text
            assert "to do" in shown.html
            assert "Traceback" not in shown.html + shown.text


def test_what_is_shown_is_what_the_command_prints(kernel: Kernel, tmp_path: Path) -> None:
    cells = solved("part3_attention")
    for cell in cells:
        cell["source"] = cell["source"].replace(ATTENTION, WRONG)
    shown = run_all(kernel, cells)['check("part3")']
    text = (ROOT / "solutions" / "part3_attention.py").read_text(encoding="utf-8").replace(ATTENTION, WRONG)
    (make_workspace(tmp_path) / "part3_attention.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "autograder", "test", "part3"]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"}
    )
    assert "without dividing" in shown.text or "→" in shown.text
    assert shown.text.strip() in ran.stdout


def test_a_mistake_is_named_and_drawn(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run(WRONG, "attention")
    shown = kernel.run(CHECK, "check")
    assert shown.summary == SOME_FAIL
    assert "What this looks like:" in shown.html
    assert "yours" in shown.html and "░" not in shown.html
    assert "Think:" in shown.html
    assert "<script" not in shown.html and "class=" not in shown.html and not shown.error


@pytest.mark.parametrize("names_cells", [True, False], ids=["JupyterLab", "an editor that names no cells"])
def test_the_definition_that_was_run_last_counts(kernel: Kernel, names_cells: bool) -> None:
    def run(source: str, cell: str) -> Shown:
        return kernel.run(source, cell if names_cells else None)

    assert "No cell that was run defines attention" in run(CHECK, "check").text
    run(IMPORTS, "imports")
    run("def attention(:", "attention")
    run(WRONG, "attention")
    assert run(CHECK, "check").summary == SOME_FAIL  # the edit that makes it right is not run yet
    run("%%time\n" + ATTENTION, "attention")
    assert run(CHECK, "check").summary == ALL_PASS
    run(IMPORTS, "imports")  # run again, it must not come after what needs it
    assert run(CHECK, "check").summary == ALL_PASS
    run(WRONG, "another")
    assert run(CHECK, "check").summary == SOME_FAIL
    run(ATTENTION, "attention")
    assert run(CHECK, "check").summary == ALL_PASS


def test_a_deleted_cell_no_longer_counts(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run(ATTENTION, "attention")
    kernel.run("1 / 0", "slip")
    assert kernel.run(CHECK, "check").summary != ALL_PASS
    assert kernel.run(CHECK, "check", deleted=["slip"]).summary == ALL_PASS
    assert "No cell that was run defines attention" in kernel.run(CHECK, "check", deleted=["attention"]).text


def test_a_cell_that_raises_is_told_by_its_number(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run(ATTENTION, "attention")
    kernel.run("number = 1\nattention(number)", "slip")
    shown = kernel.run(CHECK, "check")
    assert re.search(r"Cell \[\d+\], line 2, in <module>", shown.text)
    assert "this notebook does not import: TypeError: attention() missing 2 required positional arguments" in shown.text
    assert "restart the kernel" in shown.html
    assert "part3_attention.py" not in shown.html
    assert not shown.error


def test_an_error_in_a_students_function_shows_the_students_line(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run("# mine\n\n" + ATTENTION.replace("scaled_scores(q, k)", "scaled_score(q, k)"), "attention")
    shown = kernel.run(CHECK, "check")
    assert re.search(r"Cell \[\d+\], line \d+, in attention", shown.text)
    assert "NameError" in shown.html and "The same as at" not in shown.traceback


def test_what_was_done_to_torch_in_the_kernel_does_not_matter(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run(ATTENTION, "attention")
    kernel.run('if __name__ == "__main__":\n    torch.set_default_dtype(torch.float64); torch.allclose = None', "x")
    assert kernel.run(CHECK, "check").summary == ALL_PASS
    kernel.run('if __name__ == "__main__":\n    torch.set_default_dtype(torch.float32)', "x")


def test_words_are_understood_or_answered(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run(ATTENTION, "attention")
    assert 'Write check("part3")' in kernel.run("check()", "a").text
    assert kernel.run('check("attention", "attention")', "a").summary == ALL_PASS
    assert kernel.run('check("attention")', "a").summary == ALL_PASS
    everything = kernel.run("check()", "a")
    assert "defines Head or MultiHeadAttention" in everything.text
    assert everything.summary.startswith("5 of")
    shown = kernel.run('check("part3", "atention")', "a")
    assert "Did you mean 'attention'?" in shown.text and not shown.error
    assert "Did you mean" in kernel.run('check("part33")', "a").html


def test_checks_that_must_pass_raise_in_one_line(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run(WRONG, "attention")
    shown = kernel.run('check("part3", "attention", must_pass=True)', "a")
    assert shown.summary == SOME_FAIL
    assert shown.error.startswith("ChecksFailed")
    assert len(shown.traceback.splitlines()) == 1
    asked = "import os\nos.environ['GPT_HW_MUST_PASS'] = '{}'\n"
    assert kernel.run(asked.format(1) + CHECK, "a").error.startswith("ChecksFailed")
    assert not kernel.run(asked.format(0) + CHECK, "a").error
    kernel.run(ATTENTION, "attention")
    assert not kernel.run('check("part3", "attention", must_pass=True)', "a").error


def test_a_check_that_is_stopped_leaves_the_next_one_well(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run("def attention(q, k, v, mask=None):\n    while True:\n        pass", "attention")
    stop = Timer(3, kernel.interrupt)
    stop.start()
    started = perf_counter()
    shown = kernel.run(CHECK, "a")
    assert shown.error.startswith("KeyboardInterrupt") and perf_counter() - started < 10
    kernel.run(ATTENTION, "attention")
    assert kernel.run(CHECK, "a").summary == ALL_PASS


def test_a_killed_checker_is_told_and_replaced(kernel: Kernel) -> None:
    kernel.run(IMPORTS, "imports")
    kernel.run(ATTENTION, "attention")
    kernel.run("checking._desk.checker._process.kill()", "k")
    kernel.run("import time; time.sleep(0.5)", "k")
    assert kernel.run(CHECK, "a").summary == ALL_PASS


def test_an_earlier_part_may_be_a_notebook(tmp_path: Path) -> None:
    folder = make_workspace(tmp_path)
    (folder / "part1_average.py").unlink()
    notebook = json.loads((TEMPLATE / "part1_average.ipynb").read_text(encoding="utf-8"))
    written = {cell["id"]: cell["source"] for cell in solved("part1_average")}
    for cell in notebook["cells"]:
        cell["source"] = written.get(cell["id"], cell["source"])
    (folder / "part1_average.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (folder / "part2_scores.py").unlink()
    (folder / "part2_scores.ipynb").unlink()
    kernel = Kernel(folder)
    try:
        kernel.run("import autograder.notebook", "setup")
        assert not kernel.run("from part1_average import causal_mask; print(causal_mask(2))", "one").error
        missing = kernel.run("from part2_scores import scaled_scores", "two")
        assert "no part2_scores.py and no part2_scores.ipynb" in missing.error
        shutil.copy(ROOT / "solutions" / "part2_scores.py", folder)
        shown = run_all(kernel, solved("part3_attention"))
        assert shown['check("part3")'].summary == "10 of 10 public checks pass"
        assert json.loads((folder / ".gpt-hw" / "last.json").read_text())["parts"]["part3"]["passed"] == 10
    finally:
        kernel.close()
