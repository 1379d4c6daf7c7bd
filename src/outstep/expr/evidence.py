"""Functions that say what a text says: `mentions`, `carries`, `affirms`, `runs`, `secrets`, `number`, `time`, `known`.

Each module behind them is loaded when the first expression calls it.
"""

from __future__ import annotations

from outstep.expr.function import ANY, BOOL, LIST, MOMENT, NUMBER, TEXT, Function
from outstep.expr.times import moment
from outstep.expr.values import Moment, Value


def _mentions(x: Value, v: Value) -> bool:
    from outstep.expr.mentions import mentions

    return mentions(x, v)


def _carries(x: Value, v: Value) -> bool:
    from outstep.expr.carries import carries

    return carries(x, v)


def _affirms(text: str) -> bool:
    from outstep.expr.affirms import affirms

    return affirms(text)


def _number(text: Value) -> Value:
    from outstep.expr.numbers import number

    return number(text) if type(text) is str else text


def _time(text: Value) -> Moment:
    from outstep.expr.moments import moment as read

    return moment(read(text)) if type(text) is str else text


def _runs(command: str, patterns: Value) -> bool:
    from outstep.expr.shell import runs

    return runs(command, patterns)


def _secrets(x: Value) -> list[Value]:
    from outstep.expr.secrets import secrets

    return list(secrets(x))


FUNCTIONS = (
    Function(
        name="mentions", usage="mentions(x, v)", takes=(ANY, ANY), least=2, gives=BOOL, run=_mentions, search=True
    ),
    Function(name="carries", usage="carries(x, v)", takes=(ANY, ANY), least=2, gives=BOOL, run=_carries, search=True),
    Function(name="known", usage='known(v, "selector")', takes=(ANY, TEXT), least=1, gives=BOOL),
    Function(name="affirms", usage="affirms(text)", takes=(TEXT,), least=1, gives=BOOL, run=_affirms),
    Function(name="number", usage="number(text)", takes=(TEXT | NUMBER,), least=1, gives=NUMBER, run=_number),
    Function(name="time", usage="time(text)", takes=(TEXT | MOMENT,), least=1, gives=MOMENT, run=_time),
    Function(name="runs", usage="runs(command, patterns)", takes=(TEXT, TEXT | LIST), least=2, gives=BOOL, run=_runs),
    Function(name="secrets", usage="secrets(x)", takes=(ANY,), least=1, gives=LIST, run=_secrets, search=True),
)
