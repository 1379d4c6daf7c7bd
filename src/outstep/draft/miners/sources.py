"""`sources`: an argument that names something was in an earlier result, or at least somewhere."""

from __future__ import annotations

from collections.abc import Iterator

from outstep.draft.candidates import Candidate
from outstep.draft.links import acting, id_arguments, links, rule_id
from outstep.draft.observed import Observed


def mine(observed: Observed) -> Iterator[Candidate]:
    """Propose that ids are looked up before they are acted on, else that they were seen before."""
    for tool in acting(observed):
        linked = {link.argument: link for link in reversed(links(observed, tool))}
        for argument in id_arguments(observed.of(tool)):
            link = linked.get(argument)
            strict = rule_id(tool, argument, "looked up")
            if link is not None:
                yield Candidate(
                    id=strict,
                    about=tool,
                    keys=(("for", f"call {tool}"), ("require", f"args.{argument} in {link.fact.name}")),
                    says=f"`{argument}` stands in an earlier good result of {link.place.tool}",
                    facts=(link.fact,),
                    weight=90 if not link.place.each else 70,
                )
            yield Candidate(
                id=rule_id(tool, argument, "known"),
                about=tool,
                keys=(("for", f"call {tool}"), ("require", f"known(args.{argument})")),
                says=f"`{argument}` comes from the user, the context or an earlier good result",
                weight=60,
                instead=strict,
            )
