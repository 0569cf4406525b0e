"""The application: the page, its API and the API's page; and the server that runs it."""

import errno
import socket
from collections.abc import AsyncIterator, Callable, Container, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from heedful import __version__
from heedful.auditing.names import NAMES
from heedful.auditing.page import render_page
from heedful.auditing.page.rendering import page_policy
from heedful.errors import MissingExtra, UserError
from heedful.web.limits import Gate, Limits, Overloaded, TooSlow
from heedful.web.models import ServedModel
from heedful.web.names import LOOPBACK
from heedful.web.reading import read_texts

if TYPE_CHECKING:
    from fastapi import FastAPI

Reader = Callable[[ServedModel, Sequence[str]], Sequence[dict[str, Any] | UserError]]


def create_app(
    models: Sequence[ServedModel],
    *,
    audit: Mapping[str, Any] | None = None,
    hosts: Container[str] = LOOPBACK,
    limits: Limits | None = None,
    reader: Reader = read_texts,
) -> "FastAPI":
    """The application for these models; `audit` is the content of an audit's page, to be shown as well.

    `hosts` are the names it answers to (`names_for` an address).
    """
    try:
        from fastapi import FastAPI, Request
        from fastapi.exceptions import RequestValidationError
        from fastapi.responses import HTMLResponse, JSONResponse
        from starlette.exceptions import HTTPException
    except ImportError as error:
        raise MissingExtra("The live page", "web") from error
    from heedful.web.api_page import api_page, api_policy
    from heedful.web.guard import HEADERS, Guard
    from heedful.web.schemas import Fault, ModelList, Question, Reading

    if not models:
        raise UserError("A server needs at least one model, and got none.")
    limits = limits or Limits()
    gate = Gate(limits, reader)
    about = [model.about() for model in models]

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        gate.close()

    app = FastAPI(
        title="heedful",
        version=__version__,
        description="How a model reads a text, and which words decide.",
        docs_url=None,  # FastAPI's own pages fetch scripts from another host
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.limits, app.state.gate = limits, gate
    app.add_middleware(Guard, limits=limits, hosts=hosts)
    live = {"models": about, "most_characters": limits.characters, "start": len(models) // 2}
    content = {"audit": None, "names": dict(NAMES), "figures": {}, "notes": [], **(audit or {}), "live": live}
    page = render_page(content, title="heedful: try a text", live=True)

    def fault(status: int, sentence: str, **headers: str) -> JSONResponse:
        # A sentence may repeat what a request said, and that need not be Unicode.
        said = sentence.encode("utf-8", "replace").decode("utf-8")
        return JSONResponse({"error": said}, status, headers=headers)

    @app.exception_handler(UserError)
    async def wrong(_: Request, error: UserError) -> JSONResponse:
        return fault(422, str(error))

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
        return fault(422, f"The request is not as it should be: {where}: {first['msg']}.")

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> JSONResponse:
        return fault(error.status_code, f"{error.detail}.", **(error.headers or {}))

    @app.exception_handler(Overloaded)
    async def overloaded(_: Request, __: Overloaded) -> JSONResponse:
        return fault(
            503, "Too many texts are waiting to be read: try again in a moment.", **{"Retry-After": "2"}
        )

    @app.exception_handler(TooSlow)
    async def slow(_: Request, __: TooSlow) -> JSONResponse:
        return fault(504, f"Reading took longer than {limits.reading:g} s: try a shorter text.")

    @app.exception_handler(Exception)
    async def broken(_: Request, __: Exception) -> JSONResponse:
        # This answer is made outside the guard. What happened stands in the server's log, and only there.
        return fault(500, "The server made a mistake: its terminal says which.", **HEADERS)

    def html(text: str, policy: str) -> HTMLResponse:
        return HTMLResponse(text, headers={"content-security-policy": f"{policy}; frame-ancestors 'none'"})

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def show_page() -> HTMLResponse:
        return html(page, page_policy(live=True))

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    async def show_api(request: Request) -> HTMLResponse:
        return html(api_page(app.openapi(), address=str(request.base_url).rstrip("/")), api_policy())

    @app.get("/api/models", summary="The models that can be asked.")
    async def list_models() -> ModelList:
        return ModelList.model_validate({"models": about, "most_characters": limits.characters})

    faults: dict[int | str, dict[str, Any]] = {
        400: {"model": Fault, "description": "the body cannot be read as JSON at all"},
        408: {"model": Fault, "description": "the request took too long to arrive"},
        413: {"model": Fault, "description": "the request is too large"},
        421: {"model": Fault, "description": "the server does not answer to this host name"},
        422: {"model": Fault, "description": "the text cannot be read, or the request is malformed"},
        503: {"model": Fault, "description": "too many texts are waiting"},
        504: {"model": Fault, "description": "reading took too long"},
    }

    @app.post("/api/read", summary="Read a text.", responses=faults)
    async def read(question: Question) -> Reading:
        if len(question.text) > limits.characters:
            raise UserError(
                f"A text may have at most {limits.characters:,} characters, and this one has "
                f"{len(question.text):,}: shorten it."
            )
        if question.model >= len(models):
            raise UserError(
                f"There are {len(models)} models, numbered from 0, and no number {question.model}."
            )
        found = await gate.run(models[question.model], question.text)
        return Reading(model=question.model, unread=int(found.get("unread") or 0), text=found)

    return app


def bind(host: str, port: int) -> socket.socket:
    """A socket at this address, made before anything is promised; one that cannot be had is refused.

    So is no address at all, by which a system understands every one of its own, for all to reach.
    """
    if not host:
        raise UserError("The address to listen at (--host) is empty: name one, such as 127.0.0.1.")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
        # A body follows its header at once, and not after the asker's acknowledgement, 40 ms later.
        # Connections inherit it; asyncio sets it only where a socket's protocol was named.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        taken = error.errno in (errno.EADDRINUSE, errno.EACCES)
        raise UserError(
            f"{host} port {port} cannot be listened at ({error.strerror or error}): "
            f"choose another {'--port' if taken else '--host'}."
        ) from error


def serve(app: "FastAPI", listening: socket.socket) -> None:
    """Answer requests until interrupted, with the limits of the app."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra("The live page", "web") from error
    from heedful.web.arriving import impatient

    config = uvicorn.Config(
        app,
        http=impatient(app.state.limits.sending, app.state.gate.admit),
        log_level="warning",
        limit_concurrency=1024,  # connections beyond these get a 503 at once
        timeout_keep_alive=5,
        timeout_graceful_shutdown=3,
        server_header=False,
        proxy_headers=False,
        ws="none",
    )
    uvicorn.Server(config).run(sockets=[listening])
