"""Lists of patterns, and whether a path or a URL lies in one of them; the same for batteries and contracts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from outstep.scope.model import Access, Judgement, Surroundings, TargetKind, Verdict
from outstep.scope.paths.patterns import PathPattern, path_pattern
from outstep.scope.paths.spelling import Refused, Spelling, spell
from outstep.scope.urls.patterns import UrlPattern, url_pattern
from outstep.scope.urls.reading import BadUrl, Url, read_url

_SHOWN = 200


class PathLimit(Struct, frozen=True):
    """Path patterns: a path has to lie in one of them, or outside of all where `outside` is set."""

    patterns: tuple[PathPattern, ...]
    labels: tuple[str, ...]
    """What a pattern is called in a message, one each."""
    outside: bool = False
    tool: str = ""
    """The tool for which a rule to copy is written; without one, only the pattern is."""
    base: str = "/"
    case_sensitive: bool = True
    protected: tuple[PathPattern, ...] = ()

    def judge(self, text: str, around: Surroundings, access: Access, argument: str = "") -> Judgement:
        """Return whether every reading of a path lies inside."""
        try:
            spelling = spell(text, around)
        except Refused as refused:
            return self._judgement("escaped", text, access, argument, refused.code, str(refused))
        rule = self._rule_of(spelling.path)
        if rule is None or (not self.outside and self._is_protected(spelling.path)):
            return self._escaped(spelling.path, text, access, argument, rule)
        for path, how in spelling.others:
            if self._rule_of(path) is None or (not self.outside and self._is_protected(path)):
                return self._other(path, how, text, access, argument)
        if spelling.unknown is not None:
            return self._judgement("undecided", text, access, argument, *spelling.unknown)
        return self._judgement("contained", text, access, argument, "inside", "", rule, spelling=spelling)

    def somewhere(self, text: str, around: Surroundings, access: Access, argument: str = "") -> Judgement:
        """Judge a path for every working directory in which it may be meant."""
        first = self.judge(text, around, access, argument)
        if text[:1] in ("/", "~") or not (around.elsewhere or around.doubt):
            return first
        others = [self.judge(text, at(around, folder), access, argument) for folder in around.elsewhere]
        differ = any(other.verdict != "contained" for other in others)
        if first.verdict == "contained" and (around.doubt or differ):
            sentence = around.doubt or f"a shell may still be in `{around.elsewhere[-1]}`, where this lies outside"
            return self._judgement("undecided", text, access, argument, "folder-unknown", sentence)
        return first

    def _rule_of(self, path: str) -> str | None:
        """Return the label of the pattern that lets a path pass (empty where none is needed), or none."""
        path = path if self.case_sensitive else path.casefold()
        found = next((at for at, pattern in enumerate(self.patterns) if pattern.matches(path)), None)
        if self.outside:
            return "" if found is None else None
        return None if found is None else self.labels[found]

    def _is_protected(self, path: str) -> bool:
        path = path if self.case_sensitive else path.casefold()
        return any(pattern.matches(path) for pattern in self.protected)

    def _escaped(self, path: str, text: str, access: Access, argument: str, rule: str | None) -> Judgement:
        if rule is not None:
            sentence = f"`{_cut(path)}` is protected"
            return self._judgement("escaped", text, access, argument, "path-protected", sentence, rule)
        if self.outside:
            inside = next(
                (label for label, each in zip(self.labels, self.patterns, strict=True) if each.matches(path)), ""
            )
            sentence = f"`{_cut(path)}` lies in the exception `{inside}`"
            return self._judgement("escaped", text, access, argument, "path-excepted", sentence, inside)
        label, differs = self._nearest(path)
        sentence = f"`{_cut(path)}` lies outside"
        fix = fix_of(self.tool, relative(path, self.base))
        return self._judgement("escaped", text, access, argument, "path-outside", sentence, label, differs, fix)

    def _other(self, path: str, how: str, text: str, access: Access, argument: str) -> Judgement:
        label, differs = self._nearest(path)
        linked = how.startswith("through")
        code = "path-link" if linked else "path-reading"
        sentence = f"{how}, the path is `{_cut(path)}`, which lies outside"
        return self._judgement(
            "escaped" if linked else "undecided", text, access, argument, code, sentence, label, differs
        )

    def _nearest(self, path: str) -> tuple[str, str]:
        best: tuple[int, str, str] = (-1, "", "")
        for label, pattern in zip(self.labels, self.patterns, strict=True):
            count, differs = pattern.differs(path)
            if count > best[0]:
                best = (count, label, differs)
        return best[1], _cut(best[2])

    def _judgement(
        self,
        verdict: Verdict,
        text: str,
        access: Access,
        argument: str,
        reason: str,
        sentence: str,
        rule: str | None = "",
        differs: str = "",
        fix: str = "",
        *,
        spelling: Spelling | None = None,
    ) -> Judgement:
        return Judgement(
            verdict=verdict,
            kind="path",
            access=access,
            target=_cut(text),
            reason=reason,
            sentence=sentence or f"matches `{rule}`",
            argument=argument,
            rule=rule or "",
            differs=differs,
            fix=fix,
            notes=() if spelling is None else spelling.notes,
        )


class UrlLimit(Struct, frozen=True):
    """Patterns of URLs; as `PathLimit`."""

    patterns: tuple[UrlPattern, ...]
    labels: tuple[str, ...]
    outside: bool = False
    tool: str = ""

    def judge(self, text: str, kind: TargetKind = "url", argument: str = "", *, scheme: str = "") -> Judgement:
        """Return whether a URL, or a host, lies inside."""
        try:
            url = read_url(text, scheme="https" if kind == "host" else scheme)
        except BadUrl as bad:
            verdict: Verdict = "undecided" if bad.undecided else "escaped"
            return self._judgement(verdict, kind, text, argument, bad.code, str(bad))
        if kind == "host" and not self.outside:
            url = Url(url.scheme, url.host, url.port, "/", url.notes)
        best: tuple[int, str, str] = (-1, "", "")
        for label, pattern in zip(self.labels, self.patterns, strict=True):
            differs = "" if kind == "host" and pattern._is_host(url.host) else pattern.differs(url)
            if not differs and self.outside:
                sentence = f"the host `{url.host}` lies in the exception `{label}`"
                return self._judgement("escaped", kind, text, argument, "url-excepted", sentence, label)
            if not differs:
                notes = url.notes
                if url.port not in (80, 443) and not pattern.port:
                    notes += (f"port {url.port}: the rule names none, so any is allowed",)
                return self._judgement("contained", kind, text, argument, "inside", "", label, notes=notes)
            rank = len(url.host) - len(differs) if differs in url.host else len(url.host) + 1
            if rank > best[0]:
                best = (rank, label, differs)
        if self.outside:
            return self._judgement(
                "contained", kind, text, argument, "inside", "no exception names it", notes=url.notes
            )
        sentence = (
            f"the host is `{url.host}`, which no rule allows" if best[2] in url.host else f"`{best[2]}` is outside"
        )
        found = self._judgement("escaped", kind, text, argument, "url-outside", sentence, best[1], notes=url.notes)
        return _with(found, differs=_cut(best[2]), fix=fix_of(self.tool, url.host))

    def _judgement(
        self,
        verdict: Verdict,
        kind: TargetKind,
        text: str,
        argument: str,
        reason: str,
        sentence: str,
        rule: str = "",
        notes: tuple[str, ...] = (),
    ) -> Judgement:
        return Judgement(
            verdict=verdict,
            kind=kind,
            access="fetch",
            target=_cut(text),
            reason=reason,
            sentence=sentence or f"matches `{rule}`",
            argument=argument,
            rule=rule,
            notes=notes,
        )


def path_limit(
    scopes: Sequence[str],
    around: Surroundings,
    labels: Sequence[str] | None = None,
    *,
    outside: bool = False,
    tool: str = "",
    case_sensitive: bool = True,
    protected: Sequence[str] = (),
) -> PathLimit:
    """Return a limit of patterns that lie at the working directory of `around`."""

    def compiled(texts: Sequence[str]) -> tuple[PathPattern, ...]:
        return tuple(path_pattern(text, around.cwd, around.home, case_sensitive) for text in texts)

    return PathLimit(
        compiled(scopes),
        tuple(labels if labels is not None else scopes),
        outside,
        tool,
        around.cwd,
        case_sensitive,
        compiled(protected),
    )


def url_limit(
    scopes: Sequence[str], labels: Sequence[str] | None = None, *, outside: bool = False, tool: str = ""
) -> UrlLimit:
    """Return a limit of URL patterns."""
    return UrlLimit(tuple(map(url_pattern, scopes)), tuple(labels if labels is not None else scopes), outside, tool)


def at(around: Surroundings, cwd: str) -> Surroundings:
    """Return surroundings with another working directory, and no doubt about it."""
    if around.cwd == cwd and not around.elsewhere and not around.doubt:
        return around
    return Surroundings(cwd=cwd, home=around.home, links=around.links, variables=around.variables)


def relative(path: str, base: str) -> str:
    """Return a path as a rule at `base` would write it."""
    return path[len(base) + 1 :] if path.startswith(base.rstrip("/") + "/") and base != "/" else path


def fix_of(tool: str, scope: str) -> str:
    """Return a rule to copy; a pattern alone where it belongs to no tool."""
    escaped = "".join("\\" + sign if sign in "*?[\\" else sign for sign in scope)
    return f"{tool}: {escaped}" if tool else escaped


def _with(judgement: Judgement, **changes: Any) -> Judgement:
    from msgspec.structs import replace

    return replace(judgement, **changes)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
