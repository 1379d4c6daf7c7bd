"""One prefix of a bucket, as files: boto3 in few words. What goes wrong is an `OSError`.

Credentials, region and endpoint come from where boto3 looks for them: environment, profile, role of the machine;
`AWS_ENDPOINT_URL` names another service than Amazon's.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from outstep.errors import Place, problem
from outstep.evidence.home import Seen

_LOCATION = re.compile(r"s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:/([^\x00-\x1f]*))?\Z")
_WAITS = (0.1, 0.3, 1.0, 3.0)
"""Seconds before a write is tried again that met another one."""


class Bucket:
    """A bucket, below a prefix."""

    def __init__(self, location: str) -> None:
        """`location` is `s3://bucket/prefix`; raises `OutstepError`."""
        found = _LOCATION.match(location)
        if found is None:
            raise problem(
                "evidence/no-store",
                f"`{location}` names no bucket",
                place=Place(source=location),
                help="write s3://BUCKET/PREFIX",
            )
        self._bucket = found[1]
        prefix = (found[2] or "").strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self.location = f"s3://{self._bucket}/{prefix}".rstrip("/")

    def get(self, name: str) -> bytes:
        """Return the bytes of an object."""
        return bytes(self._call("get_object", Key=self._prefix + name)["Body"].read())

    def writer(self, name: str) -> str:
        """Return what the writer of an object was called, as `put_new` was told."""
        found: dict[str, str] = self._call("head_object", Key=self._prefix + name)["Metadata"]
        return found.get("writer", "")

    def put_new(self, name: str, data: bytes, writer: str = "") -> bool:
        """Write an object where there is none; return whether it was written."""
        told = {"Metadata": {"writer": writer}} if writer else {}
        for wait in (*_WAITS, None):
            try:
                self._call("put_object", Key=self._prefix + name, Body=data, IfNoneMatch="*", **told)
            except _Refused:
                return False
            except _Met:
                if wait is None:
                    raise
                time.sleep(wait)
            else:
                return True
        raise AssertionError

    def remove(self, name: str) -> None:
        """Let an object go, if it is there."""
        self._call("delete_object", Key=self._prefix + name)

    def files(self, begin: str) -> Iterator[Seen]:
        """Yield the objects whose names begin so, sorted by name."""
        for name, size, _ in self.listed(begin):
            yield Seen(name, size)

    def listed(self, begin: str) -> Iterator[tuple[str, int, str]]:
        """Yield name, size and tag of the objects whose names begin so, sorted by name."""
        more: dict[str, str] = {}
        while True:
            page = self._call("list_objects_v2", Prefix=self._prefix + begin, **more)
            for one in page.get("Contents", ()):
                yield one["Key"].removeprefix(self._prefix), one["Size"], one["ETag"]
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def _call(self, operation: str, **told: Any) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return getattr(self._client, operation)(Bucket=self._bucket, **told)
        except ClientError as error:
            raise self._meant(error.response, str(told.get("Key", "")).removeprefix(self._prefix)) from None
        except BotoCoreError as error:
            raise OSError(str(error)) from None

    def _meant(self, answer: Any, name: str) -> OSError:
        code = str(answer.get("Error", {}).get("Code", ""))
        status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
        if code in ("NoSuchKey", "404") or (status == 404 and code != "NoSuchBucket"):
            return FileNotFoundError(f"There is no object `{name}`")
        if status == 412:
            return _Refused(code)
        if status == 409:
            return _Met(f"Another writer is always faster ({code})")
        said = str(answer.get("Error", {}).get("Message", "")) or f"status {status}"
        return OSError(f"{code}: {said}")

    @cached_property
    def _client(self) -> Any:
        try:
            import boto3
            from botocore.config import Config
        except ImportError:
            raise problem(
                "evidence/extra-missing",
                "a store in a bucket needs the library boto3, which is not installed",
                help="pip install 'outstep[evidence,s3]'",
            ) from None
        config = Config(
            retries={"mode": "standard", "max_attempts": 5},
            connect_timeout=10,
            read_timeout=60,
            max_pool_connections=32,
            # Not every service knows the checksums that boto3 sends by default; ours are in the names and the log.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        return boto3.session.Session().client("s3", config=config)


class _Refused(OSError):
    """There is such an object already."""


class _Met(OSError):
    """Another write of the same object was under way."""
