"""HTML from data: the template with style, script and data in it, and the policy that lets in nothing else.

No text of the data is ever written as HTML: it lies in a JSON block, where `<` is escaped, and the script
puts it into text nodes. The content security policy names the one script and the one style by their digests.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

STYLE = "page.css"
SCRIPTS = (  # in the order in which they build upon each other
    "closed_form.js",
    "elements.js",
    "wording.js",
    "address.js",
    "parts.js",
    "terms.js",
    "painting.js",
    "chart.js",
    "about_text.js",
    "one_text.js",
    "verdict.js",
    "example.js",
    "accuracy.js",
    "axis.js",
    "evidence.js",
    "questions.js",
    "texts.js",
    "words.js",
    "methods.js",
    "holds.js",
    "trying.js",
    "start.js",
)
_HOLE = re.compile(r"\{\{(\w+)\}\}")


def render_page(content: Mapping[str, Any], *, title: str, live: bool = False) -> str:
    """The whole page; `content` has `audit`, `names` of rankings, `figures` (data URIs), `notes`, `live`."""
    style, script = asset(STYLE), joined_script()
    return fill(
        asset("page.html"),
        title=escape(title),
        policy=escape(page_policy(live=live)),
        style=style,
        script=script,
        data=in_script(content),
    )


def page_policy(*, live: bool = False) -> str:
    """The page's own policy; a server sends it as a header too."""
    return policy(style=asset(STYLE), script=joined_script(), live=live)


def policy(*, style: str, script: str, live: bool = False) -> str:
    """The content security policy under which only this style and this script work."""
    allowed = {
        "default-src": "'none'",
        "script-src": _digest(script),
        "style-src": _digest(style),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    if live:
        allowed["connect-src"] = "'self'"
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def in_script(content: Mapping[str, Any]) -> str:
    """JSON that cannot end the script block it stands in, whatever its texts say."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # Half of a surrogate pair, which JSON may carry and UTF-8 may not.
    return text.encode("utf-8", "replace").decode("utf-8")


def fill(template: str, **parts: str) -> str:
    """The template with its {{holes}} filled in one pass, so that what is filled in is not read again."""
    return _HOLE.sub(lambda hole: parts[hole[1]], template)


@cache
def asset(name: str) -> str:
    """The text of a file of the page."""
    return files("heedful.auditing.page").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def joined_script() -> str:
    """All scripts as one."""
    return "\n".join(asset(name) for name in SCRIPTS)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}'"
