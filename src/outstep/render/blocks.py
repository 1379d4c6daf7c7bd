"""Parts of a page that reads the same as Markdown and as HTML: headings, sentences, tables, lists, code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

from outstep.render import markdown
from outstep.render.page import text as html
from outstep.render.table import markdown_table
from outstep.render.values import spelled_out


class Heading(Struct, frozen=True):
    """A heading, from 1."""

    level: int
    text: str


class Sentence(Struct, frozen=True):
    """A paragraph; `mark` is a class of the page's shell that it wears as a badge."""

    text: str
    badge: str = ""
    mark: str = ""


class Table(Struct, frozen=True):
    """Rows of cells; `marks` colours rows by their number."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marks: dict[int, str] = {}
    code: tuple[int, ...] = ()
    """Columns that hold what a record or a contract says."""


class Items(Struct, frozen=True):
    """A list of what a record says."""

    items: tuple[str, ...]


class Code(Struct, frozen=True):
    """Text to be copied, as YAML."""

    text: str
    language: str = "yaml"


Block = Heading | Sentence | Table | Items | Code


def to_markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as GitHub-flavoured Markdown in which no text is markup."""
    return "\n\n".join("\n".join(_marked(block)) for block in blocks) + "\n"


def _marked(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.level} {markdown.text(block.text)}"
    elif isinstance(block, Sentence):
        badge = f"**{markdown.text(block.badge)}** " if block.badge else ""
        yield f"{badge}{markdown.text(block.text)}"
    elif isinstance(block, Table):
        rows = [[_cell(cell, is_code=column in block.code) for column, cell in enumerate(row)] for row in block.rows]
        yield from markdown_table([markdown.text(cell) for cell in block.head], rows)
    elif isinstance(block, Items):
        yield from (f"- {markdown.code(item)}" for item in block.items)
    else:
        text = spelled_out(block.text).rstrip("\n")
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        yield f"{fence}{block.language}\n{text}\n{fence}"


def _cell(text: str, *, is_code: bool) -> str:
    if not text:
        return ""
    # In a table, a bar ends the cell also inside a code span, unless a backslash stands before it.
    return markdown.code(text).replace("|", "\\|") if is_code else markdown.text(text)


def to_html(blocks: Iterable[Block]) -> str:
    """Return blocks as HTML in which no text is markup."""
    return "\n".join(_tagged(block) for block in blocks)


def _tagged(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{html(block.text)}</h{block.level}>"
    if isinstance(block, Sentence):
        badge = f'<span class="badge {html(block.mark)}">{html(block.badge)}</span> ' if block.badge else ""
        return f'<p class="wrap">{badge}{html(block.text)}</p>'
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Items):
        return "<ul>" + "".join(f"<li><code>{html(item)}</code></li>" for item in block.items) + "</ul>"
    lines = "\n".join(html(line) for line in spelled_out(block.text).rstrip("\n").split("\n"))
    return f'<pre class="card code">{lines}</pre>'


def _table(block: Table) -> str:
    head = "".join(f'<th scope="col">{html(cell)}</th>' for cell in block.head)
    rows = []
    for number, row in enumerate(block.rows):
        mark = f' class="{html(block.marks[number])}"' if number in block.marks else ""
        cells = "".join(
            f"<td><code>{html(cell)}</code></td>" if column in block.code and cell else f"<td>{html(cell)}</td>"
            for column, cell in enumerate(row)
        )
        rows.append(f"<tr{mark}>{cells}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
