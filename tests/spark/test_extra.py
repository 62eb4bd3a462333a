"""Without the extra every name of the Spark host says how to install it, and nothing calls it a defect."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
import cedr

said = set()
for name in [name for module, names in cedr._MODULES.items() if module.startswith("cedr.spark") for name in names]:
    try:
        getattr(cedr, name)
    except ModuleNotFoundError as error:
        assert isinstance(error, cedr.HostError), name
        said.add(str(error))
    else:
        raise AssertionError(name)
print(*said, sep="|")
from cedr.cli.main import main
sys.argv = ["cedr", "eval", "q.cedr", "--messages", "m.jsonl", "--host", "spark"]
main()
"""


@pytest.mark.parametrize("package", ["pyspark", "pandas"])
def test_every_name_says_how_to_install_it(tmp_path: Path, package: str) -> None:
    (tmp_path / "q.cedr").write_text("EVENT Q WHEN ANY(A AS a)")
    (tmp_path / "m.jsonl").write_text('{"insert": {"type": "A", "id": "a", "vs": 1}}\n')
    command = [sys.executable, "-c", SCRIPT.format(package=package)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    expected = (
        f"error[missing-extra]: cedr on Spark needs {package}, and it is not installed\n"
        "    = hint: pip install 'cedr[spark]'\n"
    )
    assert done.stdout == expected, done.stderr
    assert done.stderr.rstrip() == expected.rstrip()
    assert done.returncode != 0
