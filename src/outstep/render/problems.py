"""Problems and faults as people read them: code, fact, place, the text underlined, next step."""

from __future__ import annotations

from outstep.errors import Problem
from outstep.render.escape import shown, visible, width
from outstep.render.style import PLAIN, Style

LONGEST_SENTENCE = 2000


def problem_text(problem: Problem, style: Style = PLAIN) -> str:
    """Return one problem as lines without a last line end."""
    colour = "yellow" if problem.level == "warning" else "red"
    head = style.paint(f"{style.say(problem.level)}[{visible(problem.code)}]", colour)
    lines = [f"{head}: {shown(style.say(problem.sentence), LONGEST_SENTENCE)}"]
    if problem.place is not None:
        lines.append(f"  {style.paint('-->', 'cyan')} {visible(str(problem.place))}")
    if problem.excerpt:
        lines += _excerpt(problem, style)
    if problem.help:
        lines.append(
            f"   {style.paint('=', 'cyan')} {style.say('help')}: {shown(style.say(problem.help), LONGEST_SENTENCE)}"
        )
    return "\n".join(lines)


def _excerpt(problem: Problem, style: Style) -> list[str]:
    bar = style.paint("|", "cyan")
    excerpt = problem.excerpt
    lines = [f"   {bar}  {shown(excerpt, style.columns)}".rstrip()]
    if problem.underline is not None:
        first, last = problem.underline
        # Escapes and wide signs in front of it move the mark.
        before = width(visible(excerpt[:first]))
        marked = max(1, width(visible(excerpt[first:last])))
        if before < style.columns:
            marks = "^" * min(marked, style.columns - before)
            lines.append(f"   {bar}  {' ' * before}{style.paint(marks, colour='red')}")
    return lines
