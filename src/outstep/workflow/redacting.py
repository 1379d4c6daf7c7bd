"""Redaction of documents with the rules and the key that a person has on this machine."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from outstep.adapters.base import Document
from outstep.errors import Place, problem
from outstep.redaction.documents import Redacted, redact, redact_name
from outstep.redaction.placeholders import Key, commitment
from outstep.redaction.rules import NONE, PROFILES, Rules
from outstep.redaction.rules_file import load_rules

KEY_VARIABLE = "OUTSTEP_REDACTION_KEY"
_BYTES = 32


class Redactor(Struct, frozen=True):
    """Rules, the bytes in which they were written, and a key."""

    rules: Rules
    source: bytes
    """Of the file of rules; empty where the profile alone holds."""
    key: Key

    @property
    def is_on(self) -> bool:
        """Whether anything can be replaced."""
        return self.rules.profile != NONE or bool(self.rules.rules)

    def redacted(self, document: Document) -> tuple[Document, Redacted]:
        """Return a document, its name too, without what is to be hidden; raises `OSError`, `OutstepError`."""
        data = document.read()
        name = self.name(document.uri)
        done = redact(data, self.rules, self.key, uri=name) if self.is_on else Redacted(data=data)
        return Document(name, data=done.data), done

    def name(self, uri: str) -> str:
        """Return the name of a document without what is to be hidden."""
        return redact_name(uri, self.rules, self.key) if self.is_on else uri

    def told(self) -> dict[str, Any]:
        """Return what can be said of the rules: their names; what they look for may be what they hide.

        Empty where the profile alone holds. Patterns are bound to by a digest that needs the key.
        """
        if not self.source:
            return {}
        rules = [
            {
                "name": rule.name,
                "arguments": list(rule.arguments),
                "pointers": ["/" + "/".join(pointer) for pointer in rule.pointers],
                "has_pattern": rule.pattern is not None,
            }
            for rule in self.rules.rules
        ]
        bound = commitment(self.key.salt(self.source), self.source)
        return {"schema": "redaction-rules/v1", "rules": rules, "keeps": len(self.rules.keep), "commitment": bound}


def rules_of(profile: str | None, file: str | None) -> tuple[Rules, bytes]:
    """Return the rules of a file and a profile, and the bytes of the file; raises `OutstepError`."""
    if profile is not None and profile not in PROFILES:
        raise problem(
            "usage/arguments",
            f"`--profile {profile}` is not known",
            help=f"one of: {', '.join(PROFILES)}; rules of your own stand in a file, --rules FILE",
        )
    if file is None:
        return Rules(profile=profile) if profile is not None else Rules(), b""
    data = _read(file)
    rules = load_rules(data, file)
    return (Rules(profile=profile, rules=rules.rules, keep=rules.keep) if profile is not None else rules), data


def key_file(environment: Mapping[str, str]) -> Path | None:
    """Return where the key is kept when nobody names another one: with the user, not with the documents."""
    if named := environment.get("OUTSTEP_CONFIG_DIR"):
        return Path(named) / "keys" / "redaction.key"
    base = environment.get("XDG_CONFIG_HOME") or ""
    folder = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.config"))
    return None if str(folder).startswith("~") else folder / "outstep" / "keys" / "redaction.key"


def redaction_key(file: str | None, environment: Mapping[str, str]) -> tuple[Key, str]:
    """Return the key of a file, of OUTSTEP_REDACTION_KEY, or the user's own; and where a new one was kept, if any.

    Raises `OutstepError`.
    """
    if file is not None:
        return _key(_read(file).strip(), file), ""
    if text := environment.get(KEY_VARIABLE):
        return _key(text.strip().encode(), KEY_VARIABLE), ""
    path = key_file(environment)
    if path is None:
        raise problem(
            "redact/no-key",
            "there is no home in which a key of redaction could be kept",
            help=f"give one: --key FILE, or its text in {KEY_VARIABLE}",
        )
    if path.exists():
        return _key(_read(str(path)).strip(), str(path)), ""
    return _made(path)


def _made(path: Path) -> tuple[Key, str]:
    """Keep a new key where only its user reads it; the first of several processes wins."""
    drawn = secrets.token_hex(_BYTES).encode()
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(drawn + b"\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(beside, path)
        except FileExistsError:
            return _key(_read(str(path)).strip(), str(path)), ""
        except OSError:
            os.replace(beside, path)  # a disk without hard links
    except OSError as error:
        raise problem(
            "redact/no-key",
            f"no key of redaction can be kept: {(error.strerror or str(error)).lower()}",
            place=Place(source=str(path)),
            help=f"give one: --key FILE, or its text in {KEY_VARIABLE}",
        ) from None
    finally:
        beside.unlink(missing_ok=True)
    return _key(drawn, str(path)), str(path)


def _key(data: bytes, source: str) -> Key:
    try:
        return Key(data)
    except ValueError as error:
        raise problem(
            "redact/bad-key",
            f"`{source}` holds no key of redaction: {error}",
            place=Place(source=source),
            help="openssl rand -hex 32 makes one",
        ) from None


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise problem(
            "usage/arguments", f"`{file}` cannot be read: {reason}", place=Place(source=file), help="name a file"
        ) from None
