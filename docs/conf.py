"""The documentation site. The source folder is the repository's root, so that links work on GitHub as they do here."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from typing import Any

from docutils.nodes import Element, TextElement
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

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
#: Where objects are documented, by where they are defined.
PUBLIC = {
    f"{getattr(package, name).__module__}.{getattr(package, name).__qualname__}": f"{package.__name__}.{name}"
    for package in PACKAGES
    for name in package.__all__
    if hasattr(getattr(package, name), "__qualname__")
}


def public_reference(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: TextElement) -> Element | None:
    """Lead a reference to the module that defines an object to where the object is documented."""
    target = PUBLIC.get(node.get("reftarget", ""))
    if target is None or node.get("refdomain") != "py":
        return None
    domain = env.domains["py"]
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)


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
    """Connect the two."""
    app.connect("missing-reference", public_reference)
    app.connect("autodoc-process-docstring", link_names, priority=400)
