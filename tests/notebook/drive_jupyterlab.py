"""Work in a notebook as a person does: JupyterLab in headless Chromium. Run by the Python that has both installed.

    python drive_jupyterlab.py FOLDER NOTEBOOK CHROMIUM < steps.json > shown.json

A step is ``{"write": {cell id: source}}``, ``{"run": "all"}``, ``{"run": [cell ids]}``, ``{"delete": cell id}``,
``{"theme": name}``, ``{"picture": path, "cells": [first id, last id]}`` or ``{"show": name}``. What each code cell
showed at each "show" is printed.
"""

import json
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

WAIT_MS = 120_000
WIDTH, HEIGHT = 1080, 1600
MARGIN = 6  # around a picture
NOTEBOOK = "jupyterapp.shell.currentWidget"
CELLS = f"{NOTEBOOK}.content.model.sharedModel.cells"
BOX = f"""([first, last, margin]) => {{
    const [top, end] = [first, last].map(id =>
        {NOTEBOOK}.content.widgets.find(cell => cell.model.id === id).node.getBoundingClientRect());
    return {{x: top.left, y: top.top - margin, width: top.width, height: end.bottom - top.top + 2 * margin}};
}}"""


def main(folder: str, notebook: str, chromium: str) -> None:
    steps = json.load(sys.stdin)
    port = free_port()
    with Path(folder, "jupyterlab.log").open("w") as log:
        server = subprocess.Popen(
            [
                sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
                "--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={folder}",
                "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=", "--LabApp.check_for_updates_class="
                "jupyterlab.handlers.announcements.NeverCheckForUpdate",
            ],
            stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
    try:
        wait_for(f"http://127.0.0.1:{port}/api")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=1.5)
            page.set_default_timeout(WAIT_MS)
            page.goto(f"http://127.0.0.1:{port}/lab/tree/{notebook}?reset")
            page.wait_for_function(f"window.jupyterapp && {NOTEBOOK}?.context?.isReady && {CELLS}?.length > 1")
            page.wait_for_function(f"{NOTEBOOK}.sessionContext.session?.kernel?.status === 'idle'")
            page.evaluate("jupyterapp.commands.execute('application:set-mode', {mode: 'single-document'})")
            page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")
            # Every cell stays in the page, so that all of them can be read.
            page.evaluate(
                f"{NOTEBOOK}.content.notebookConfig = {{...{NOTEBOOK}.content.notebookConfig, windowingMode: 'none'}}"
            )
            found = {}
            for step in steps:
                if "show" in step:
                    found[step["show"]] = shown(page)
                else:
                    take(page, step)
            json.dump(found, sys.stdout)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def take(page: Page, step: dict) -> None:
    if "write" in step:
        for cell, source in step["write"].items():
            page.evaluate(f"([id, text]) => {CELLS}.find(c => c.id === id).setSource(text)", [cell, source])
    elif step.get("run") == "all":
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        wait_until_idle(page)
    elif "run" in step:
        for cell in step["run"]:
            select(page, cell)
            page.evaluate("jupyterapp.commands.execute('notebook:run-cell')")
            wait_until_idle(page)
    elif "delete" in step:
        select(page, step["delete"])
        page.evaluate("jupyterapp.commands.execute('notebook:delete-cell')")
    elif "theme" in step:
        page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', {theme})", step["theme"])
        page.wait_for_timeout(3000)  # the theme's style sheet comes from the server
    elif "picture" in step:
        first, last = step["cells"]
        select(page, first)
        page.wait_for_timeout(1000)
        page.screenshot(path=step["picture"], clip=page.evaluate(BOX, [first, last, MARGIN]))


def select(page: Page, cell: str) -> None:
    """Make a cell the active one, and put it at the top of the window."""
    page.evaluate(
        f"""id => {{
            const index = {CELLS}.findIndex(cell => cell.id === id);
            {NOTEBOOK}.content.deselectAll();
            {NOTEBOOK}.content.activeCellIndex = index;
            {NOTEBOOK}.content.widgets[index].node.scrollIntoView({{block: 'start'}});
        }}""",
        cell,
    )


def wait_until_idle(page: Page) -> None:
    page.wait_for_timeout(500)
    page.wait_for_function(
        f"""() => {NOTEBOOK}.sessionContext.session.kernel.status === 'idle' &&
            {NOTEBOOK}.content.widgets.every(cell => !cell.node.innerText.includes('[*]'))"""
    )


def shown(page: Page) -> dict:
    """Give what stands under each code cell, as a person reads it, and whether an error is among it."""
    return page.evaluate(
        f"""() => Object.fromEntries(
            {NOTEBOOK}.content.widgets.filter(cell => cell.model.type === 'code').map(cell => [cell.model.id, {{
                text: cell.outputArea.node.innerText,
                errors: cell.outputArea.model.toJSON().filter(one => one.output_type === 'error').map(one => one.ename),
            }}]))"""
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(address: str) -> None:
    deadline = time.monotonic() + WAIT_MS / 1000
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
