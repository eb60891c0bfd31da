"""The documentation site. The source folder is the repository's root, so that links work on GitHub as they do here."""

from __future__ import annotations

import pkgutil
import re
from importlib.metadata import version as version_of
from typing import Any

from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

import arrow_digest
import kiln_arrow

project = "kiln-arrow"
author = "the kiln-arrow authors"
copyright = author  # noqa: A001  # Sphinx calls it so
version = release = version_of("kiln-arrow")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    "docs/**.md",
    "golden/README.md",
    "tests/fuzz/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = [".*", "build", "dist", "docs/_build", "**/node_modules"]

myst_enable_extensions = ["smartquotes"]
myst_heading_anchors = 4

html_theme = "furo"
html_title = f"kiln-arrow {release}"
html_static_path: list[str] = []
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
napoleon_use_ivar = True
napoleon_use_rtype = False

# Every reference into the two packages has to lead somewhere. Those to other libraries are text, as nothing is
# downloaded to build these pages.
nitpick_ignore_regex = [(r"py:.*", r"(?!(arrow_digest|kiln_arrow)\b).*")]

PACKAGES = (arrow_digest, kiln_arrow)


def read_defining_modules() -> None:
    """Have Sphinx read what is written of a public class in the module that defines it.

    Public names say that they are in their package. Sphinx takes the order of members, and the docstrings behind
    constants, from the source of the module that a class says it is in.
    """
    for package in PACKAGES:
        whole = ModuleAnalyzer.for_module(package.__name__)
        whole.analyze()
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith("._kernels"):  # the C library
                continue
            part = ModuleAnalyzer.for_module(module.name)
            part.analyze()
            start = len(whole.tagorder)
            for name, number in part.tagorder.items():
                if name.partition(".")[0] in package.__all__:
                    whole.tagorder[name] = start + number
            for (owner, name), lines in part.attr_docs.items():
                if owner.partition(".")[0] in package.__all__:
                    whole.attr_docs[owner, name] = lines


def link_names(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn the Markdown code of docstrings into links where it is a public name, into literals elsewhere."""
    package = next((package for package in PACKAGES if name.split(".")[0] == package.__name__), None)

    def replaced(match: re.Match[str]) -> str:
        text = match[1]
        if package is not None and text in package.__all__:
            return f":py:obj:`~{package.__name__}.{text}`"
        return f"``{text}``"

    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = re.sub(r"(?<![`:])`([^`]+)`(?!`)", replaced, line)


def setup(app: Sphinx) -> None:
    """Read the sources, and connect what changes docstrings."""
    read_defining_modules()
    app.connect("autodoc-process-docstring", link_names, priority=400)
