"""The audit's page: one HTML file that needs nothing besides itself, made from `audit.json` and its figures.

The page draws itself by its own script (`assets/*.js`, joined in order) from data that lie in it as JSON.
"""

from heedful.auditing.page.rendering import render_page
from heedful.auditing.page.writing import MOST_BYTES, write_page

__all__ = ["MOST_BYTES", "render_page", "write_page"]
