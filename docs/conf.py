"""Sphinx: the guides in Markdown, the reference from the docstrings."""

import adsunify.service.dispatch  # noqa: F401  # autodoc changes BaseModel's annotations: pydantic makes no model later
from adsunify import __version__

project = "adsunify"
copyright = "the adsunify developers"  # noqa: A001  # Sphinx's own name
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"adsunify {release}"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "description"
