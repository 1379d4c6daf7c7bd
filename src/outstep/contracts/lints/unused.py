"""`unused`: what is declared and nothing asks for."""

from __future__ import annotations

from outstep.contracts.contents import contract_selectors
from outstep.contracts.lints.base import Subject
from outstep.contracts.located import Mapping, Scalar


def warn(subject: Subject) -> None:
    """Warn of facts, claims, parameters and tags; a file that is included may serve other contracts, too."""
    if subject.main is None or subject.main.file.index not in subject.files or subject.reading.report.failed:
        return  # what a mistake hides may have used it
    used = subject.reading.used
    for section, what in (("facts", "fact"), ("claims", "claim"), ("params", "parameter")):
        node = subject.main.fields.get(section)
        for key, _ in node.entries if isinstance(node, Mapping) else ():
            family = "param" if what == "parameter" else what
            if f"{family} {key.text}" not in used and not (what == "claim" and "claims" in used):
                _tell(subject, what, key)
    for let in subject.reading.lets:
        if f"let {let.file.index}:{let.start}" not in used and let.file.index in subject.files:
            subject.reading.report.warning(
                "unused", f"nothing uses `{let.text}` of this `let`", let, "leave it out, or use it"
            )
    _warn_of_tags(subject)


def _warn_of_tags(subject: Subject) -> None:
    asked = {name for selector in contract_selectors(subject.contract) for name in selector.names}
    tools = subject.main.fields.get("tools") if subject.main is not None else None
    for _, tool in tools.entries if isinstance(tools, Mapping) else ():
        tags = tool.get("tags") if isinstance(tool, Mapping) else None
        for tag in getattr(tags, "items", (tags,)):
            if isinstance(tag, Scalar) and f"@{tag.text}" not in asked:
                sentence = f"no selector asks for `@{tag.text}`"
                subject.reading.report.warning("unused", sentence, tag.span, "leave the tag out, or use it")


def _tell(subject: Subject, what: str, key: Scalar) -> None:
    sentence = f"nothing uses the {what} `{key.text}`"
    subject.reading.report.warning("unused", sentence, key.span, "leave it out, or use it")
