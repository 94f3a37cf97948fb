"""Run inside otter-grader's environment: grade zips through the API, one after the other in one process.

``python drive_otter.py AUTOGRADER OUT ZIP...`` writes ``OUT/NAME.json`` (what Gradescope would be given) for each.
"""

import json
import sys
from pathlib import Path


def main(autograder, out, *submissions):
    """Grade each."""
    from otter.api import grade_submission
    from otter.run.run_autograder.autograder_config import AutograderConfig

    for path in submissions:
        name = Path(path).stem
        try:
            results = grade_submission(path, autograder, quiet=True)
            told = results.to_gradescope_dict(AutograderConfig({}))
        except BaseException as error:
            told = {"error": f"{type(error).__name__}: {error}", "tests": []}
        (Path(out) / f"{name}.json").write_text(json.dumps(told))
        print(name, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
