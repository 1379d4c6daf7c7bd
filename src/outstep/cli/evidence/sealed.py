"""What commands that seal sessions share: how to redact, and what to tell of what was sealed."""

from __future__ import annotations

import os

from outstep.cli import console
from outstep.cli.arguments import Arguments, Given
from outstep.evidence.store import Store, Writer
from outstep.redaction.rules import NONE
from outstep.render.escape import visible
from outstep.render.wording import count
from outstep.workflow.ingesting import Ingested
from outstep.workflow.redacting import Redactor, redaction_key, rules_of


def redaction_options(made: Arguments) -> None:
    """Take how documents are redacted."""
    made.switch("--redact", help="replace personal data and secrets before anything is kept (default; see init)")
    made.value("--profile", metavar="NAME", help="the profile of redaction: standard, none")
    made.value("--rules", metavar="FILE", help="rules of redaction of your own, in YAML")
    made.value("--redaction-key", metavar="FILE", help="the key of placeholders (else OUTSTEP_REDACTION_KEY, your own)")


def redactor_of(given: Given, store: Store) -> Redactor | None:
    """Return how documents are redacted, or none where they are kept as they are; raises `OutstepError`."""
    is_named = given.profile is not None or given.rules is not None
    if given.redact is None and not is_named and store.about.redaction == NONE:
        return None
    return folder_redactor(given)


def folder_redactor(given: Given) -> Redactor | None:
    """Return how documents are redacted where no store says what is usual; raises `OutstepError`."""
    if given.redact is False:
        return None
    rules, source = rules_of(given.profile, given.rules)
    key, kept = redaction_key(given.redaction_key, os.environ)
    if kept:
        console.say(f"a new key of redaction is kept in {visible(kept)}: equal values keep equal placeholders with it")
    redactor = Redactor(rules, source, key)
    return redactor if redactor.is_on else None


def put_sealed(done: Ingested) -> None:
    """Tell what was sealed; of what was replaced, kinds and numbers."""
    verdicts = "".join(f", {number} {gate}" for gate, number in sorted(done.gates.items()))
    entries = "1 entry" if done.entries == 1 else f"{done.entries} entries"
    console.put(f"sealed {entries} with {count(done.traces, 'trace')}{verdicts}\n")
    if done.replaced:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(done.replaced.items()))
        console.put(f"redacted {count(sum(done.replaced.values()), 'value')}: {kinds}\n")
    if done.head is not None:
        head = done.head.head
        console.put(f"head {head.size} {head.root}, signed by {head.key}\n")


def say_repaired(writer: Writer) -> None:
    """Tell what an earlier writer left unfinished."""
    for tail in writer.repaired:
        where = visible(writer.store.home.place(f"log/{tail.kept_as}").source)
        console.say(f"a writer did not finish: {tail.size} bytes of `{tail.file}` were set aside as {where}")
