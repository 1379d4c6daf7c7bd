"""A service that speaks S3, in a thread of the tests: moto's server, made as strict as a real one about conditions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from threading import Lock, Thread
from typing import Any

import pytest

BUCKET = "evidence"


class Service:
    """The service, and what goes wrong with it on purpose."""

    def __init__(self, app: Any) -> None:
        self._app = app
        # moto looks for an object and writes it in two steps; a real service does both at once.
        self._writing = Lock()
        self.port = 0
        self.requests: list[str] = []
        self.fails: list[str] = []
        """What becomes of the next writes: `before` and `after` lose the answer, `refuse` says that it is busy."""
        self.is_lax = False
        """Whether conditions are ignored, as old services do."""

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        self.requests.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        if environ["REQUEST_METHOD"] != "PUT":
            return self._app(environ, start)
        if self.is_lax:
            environ.pop("HTTP_IF_NONE_MATCH", None)
        fault = self.fails.pop(0) if self.fails else ""
        if fault in ("before", "refuse"):
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            return _busy(start)
        with self._writing:
            answer = self._app(environ, start if fault != "after" else lambda *_: None)
            answer = [b"".join(answer)]
        return _busy(start) if fault == "after" else answer


def _busy(start: Any) -> list[bytes]:
    start("503 Slow Down", [("Content-Type", "application/xml")])
    return [b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"]


@pytest.fixture(scope="session")
def _service() -> Iterator[Service]:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_request(self, *told: Any) -> None:
            pass

    service = Service(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, service, threaded=True, request_handler=Quiet)
    service.port = server.server_port
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield service
    server.shutdown()
    thread.join()


@cache
def _client(port: int) -> Any:
    from outstep.evidence.s3 import Bucket

    assert port
    return Bucket(f"s3://{BUCKET}")._client


@pytest.fixture
def service(_service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """An empty bucket `evidence`, to which boto3 finds by its usual environment."""
    import boto3

    for name, value in {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{_service.port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    }.items():
        monkeypatch.setenv(name, value)
    # A client takes boto3 a tenth of a second, and tests open many stores.
    monkeypatch.setattr("outstep.evidence.s3.Bucket._client", _client(_service.port))
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    bucket = boto3.resource("s3").Bucket(BUCKET)
    bucket.objects.all().delete()
    # Between two tries boto3 waits up to 20 seconds.
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0.0)
    _service.requests.clear()
    _service.fails, _service.is_lax = [], False
    return _service
