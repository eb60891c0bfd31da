"""What users see of both packages: names, where they come from, and what keeps its place."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
from importlib.metadata import version

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arrow_digest
import kiln_arrow

PACKAGES = (arrow_digest, kiln_arrow)
PUBLIC = [
    pytest.param(package, name, id=f"{package.__name__}.{name}")
    for package in PACKAGES
    for name in package.__all__
    if inspect.isclass(getattr(package, name)) or callable(getattr(package, name))
]
ids = [package.__name__ for package in PACKAGES]


@pytest.mark.parametrize(("package", "name"), PUBLIC)
def test_a_public_name_says_that_it_is_in_its_package(package, name):
    value = getattr(package, name)
    assert value.__module__ == package.__name__
    assert value.__qualname__ == name
    assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize("package", PACKAGES, ids=ids)
def test_a_package_says_the_version_of_its_distribution(package):
    assert package.__version__ == version("kiln-arrow")


@pytest.mark.parametrize("package", PACKAGES, ids=ids)
def test_no_module_of_a_package_has_the_name_of_something_public_in_it(package):
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert not modules & set(package.__all__)


@pytest.mark.parametrize("name", ["errors", "functions", "multihash", "typing", "pytest_plugin"])
def test_what_is_public_in_a_module_of_its_own_is_there(name):
    module = importlib.import_module(f"arrow_digest.{name}")
    assert all(hasattr(module, name) for name in module.__all__)


def test_results_are_stored_under_public_names_so_that_they_load_when_modules_have_moved(tmp_path):
    table = pa.table({"a": [1, None], "b": ["x", "y"]})
    pq.write_table(table, tmp_path / "f")
    (tmp_path / "g").write_text("no data")
    found = arrow_digest.hash_file(tmp_path / "f")
    results = [
        found,
        arrow_digest.Manifest.create(tmp_path),
        arrow_digest.verify(tmp_path / "f", logical=found.logical),
        arrow_digest.verify(tmp_path / "g", logical=found.logical),
        arrow_digest.diff(table, table.slice(1)),
        arrow_digest.explain(table),
        next(iter(arrow_digest.hash_files([tmp_path / "missing"]))),
    ]
    for result in results:
        stored = pickle.dumps(result)
        assert b"arrow_digest." not in stored, stored
        loaded = pickle.loads(stored)
        assert type(loaded) is type(result)
        assert str(loaded) == str(result)
