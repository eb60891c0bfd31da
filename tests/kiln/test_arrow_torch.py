"""The Dataset of the how-to page trains. Collected where KILN_TEST_TORCH=1, as torch is large."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kiln_arrow

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "train-from-parquet.md"

pytestmark = pytest.mark.torch


def test_the_dataset_of_the_page_trains(tmp_path):
    (body,) = re.findall(r"^```py\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "train.py").write_text(body, encoding="utf-8")
    environment = {"PYTHONPATH": str(Path(kiln_arrow.__file__).parents[1])}
    result = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "1000 rows, labels 0 to 9"
