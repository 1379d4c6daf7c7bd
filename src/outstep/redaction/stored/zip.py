"""ZIP archives: every member redacted, in its order and with its time; comments and extra fields are left out."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from io import BytesIO

FREE = 1 << 26
RATIO = 500


def redact_archive(data: bytes, redact: Callable[[bytes, str], bytes], rename: Callable[[str], str]) -> bytes:
    """Return an archive with redacted members; raises `ValueError` where one cannot be read."""
    from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

    out = BytesIO()
    try:
        with ZipFile(BytesIO(data)) as archive, ZipFile(out, "w", ZIP_DEFLATED) as new:
            members = archive.infolist()
            limit = max(FREE, RATIO * len(data))
            if sum(member.file_size for member in members) > limit:
                raise ValueError(f"it unpacks to more than {limit} bytes")
            for member in members:
                about = ZipInfo(rename(member.filename), member.date_time)
                about.external_attr, about.compress_type = member.external_attr, ZIP_DEFLATED
                with archive.open(member) as file:
                    text = file.read(member.file_size + 1)
                new.writestr(about, redact(text, member.filename))
    except (BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error) as error:
        raise ValueError(f"the archive is damaged or locked ({error})") from None
    return out.getvalue()
