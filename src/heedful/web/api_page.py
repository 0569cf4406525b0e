"""The API's page: what can be asked and what comes back, made from the OpenAPI description.

FastAPI's own page fetches its script from another host; this one needs nothing but itself.
"""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

from heedful.auditing.page.rendering import policy

STYLE = """
body { font: 1rem/1.55 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
:root { color-scheme: light dark; }
h2 code { font-size: 1.15rem; }
h3 { font-size: 1rem; margin-bottom: .3rem; }
h2 { border-top: 1px solid #8886; padding-top: 1rem; }
code, pre { font: .9rem/1.45 ui-monospace, monospace; }
pre { background: #8882; padding: .7rem; border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; }
td, th { text-align: start; vertical-align: top; padding: .2rem .9rem .2rem 0; }
"""


def api_policy() -> str:
    """The policy under which the API's page is shown: its style, and nothing else."""
    return policy(style=STYLE, script="")


def api_page(description: Mapping[str, Any], *, address: str = "http://127.0.0.1:8765") -> str:
    """One HTML page without a script: every path with its parameters, answers and a command to try it."""
    schemas = description.get("components", {}).get("schemas", {})
    parts = [
        _operation(path, method, operation, schemas, address)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(api_policy())}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>heedful: the API</title><style>{STYLE}</style></head><body>
<h1>{escape(description["info"]["title"])}</h1>
<p>{escape(description["info"].get("description", ""))} The same for machines:
<a href="openapi.json">openapi.json</a>. <a href="./">The page</a>.</p>
{"".join(parts)}
</body></html>
"""


def _operation(
    path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any], address: str
) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    fields = _fields(_followed(body, schemas)) if body else ""
    command = f"curl {address}{path}"
    if body:
        example = json.dumps(_followed(body, schemas).get("example", {}), ensure_ascii=False)
        command += f" -H 'Content-Type: application/json' -d '{example}'"
    answers = "".join(
        f"<tr><td><code>{escape(status)}</code></td><td>{escape(answer.get('description', ''))}</td></tr>"
        for status, answer in operation["responses"].items()
    )
    content = (
        operation["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema")
    )
    back = (
        _fields(_followed(content, schemas)) + _parts(_followed(content, schemas), schemas) if content else ""
    )
    return f"""<h2><code>{escape(method.upper())} {escape(path)}</code></h2>
<p>{escape(operation.get("summary", ""))} {escape(operation.get("description", ""))}</p>
{f"<h3>Asked with</h3>{fields}" if fields else ""}{f"<h3>Answered with</h3>{back}" if back else ""}
<h3>Statuses</h3><table>{answers}</table>
<pre>{escape(command)}</pre>
"""


def _parts(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    """The fields of what lists in an answer hold."""
    items = [field.get("items", {}) for field in schema.get("properties", {}).values()]
    inner = [_followed(item, schemas) for item in items if "$ref" in item]
    return "".join(f"<h3>{escape(str(one.get('title', '')))}</h3>{_fields(one)}" for one in inner)


def _fields(schema: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(_kind(field))}</td>"
        f"<td>{escape(field.get('description', ''))}</td></tr>"
        for name, field in schema.get("properties", {}).items()
    )
    return f"<table>{rows}</table>" if rows else ""


def _kind(field: Mapping[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(choice) for choice in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1]
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}"
    return str(field.get("type", "anything"))


def _followed(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    return schemas[schema["$ref"].rsplit("/", 1)[-1]] if "$ref" in schema else schema
