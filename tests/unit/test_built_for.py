"""A layer that was built for another Python."""

from __future__ import annotations

import subprocess
import sys


def test_a_layer_built_for_another_python_says_how_to_build_it() -> None:
    program = "import sys; sys.modules['pydantic_core'] = None; import mrtr"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": "layers/mrtr"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "PYTHON_RUNTIME" in done.stderr.splitlines()[-1]
