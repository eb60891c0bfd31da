"""The public border: where public names say that they are from, and that no function hides a module."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import types
from importlib.metadata import version

import pytest

import kiln_arrow


def test_every_public_class_and_function_says_that_it_is_of_the_package():
    things = {name: getattr(kiln_arrow, name) for name in kiln_arrow.__all__}
    named = {name: thing for name, thing in things.items() if isinstance(thing, (type, types.FunctionType))}
    assert len(named) > 40
    assert {name: thing.__module__ for name, thing in named.items()} == dict.fromkeys(named, "kiln_arrow")
    assert all(pickle.loads(pickle.dumps(thing)) is thing for thing in named.values())


def test_the_package_has_the_version_that_is_installed():
    assert kiln_arrow.__version__ == version("kiln-arrow")


def test_no_public_name_hides_a_module():
    modules = {name for _, name, _ in pkgutil.iter_modules(kiln_arrow.__path__)}
    assert not modules & set(kiln_arrow.__all__)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("kiln_arrow.frame")
