# SPDX-License-Identifier: MIT
"""Expressions over machine keys, which the declarations in `engine/` contain.

An expression is written once, in a subset of Python. The subset has keys such as `l1i.size`,
numbers, texts, `+ - * / // %`, comparisons of two values, `and`, `or`, `not`, and the functions of
FUNCTIONS. All other syntax of Python is refused.
"""

import ast
import functools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from p5lab.errors import UserError

Value = int | float | bool | str
Values = Mapping[str, Value]

_BINARY: dict[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Value, Value], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def power_of_two(number: int) -> bool:
    """Whether a whole number is a power of two: 1, 2, 4 and so on."""
    return number > 0 and number & (number - 1) == 0


def beats(burst: str) -> int:
    """The number of transfers of a burst: 4 for "3-2-2-2"."""
    return burst.count("-") + 1


def cylinders(zones: str) -> int:
    """The number of cylinders of a drive, from its zones: 702 for "351x130,351x126"."""
    return sum(int(zone.partition("x")[0]) for zone in zones.split(","))


@functools.lru_cache(maxsize=256)
def mean_seek(zones: str, knee: int, single: float, full: float, at_knee: float) -> float:
    """The mean time of a seek between two random cylinders, in the unit of `single`, `at_knee` and
    `full`.

    A seek by one cylinder takes the time `single`. A seek by `knee` cylinders takes `at_knee`. A
    seek over all cylinders takes `full`. For distances up to `knee`, the time grows with the square
    root of the distance. For longer distances the time grows linearly, as in
    `engine/devices/scsi/seek.hh`.
    """
    count = cylinders(zones)
    root = (at_knee - single) / (math.sqrt(knee) - 1)
    slope = (full - at_knee) / (count - 1 - knee)
    total = math.fsum(
        (count - d) * (single + root * (math.sqrt(d) - 1)) for d in range(1, knee + 1)
    ) + math.fsum((count - d) * (full - slope * (count - 1 - d)) for d in range(knee + 1, count))
    return total / (count * (count - 1) / 2)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": abs,
    "round": round,
    "power_of_two": power_of_two,
    "beats": beats,
    "cylinders": cylinders,
    "mean_seek": mean_seek,
}


@dataclass(frozen=True)
class Expression:
    """One expression. `where`: the file or option of the expression, for messages."""

    text: str
    where: str
    tree: ast.expr

    @classmethod
    def parse(cls, text: str, where: str) -> "Expression":
        """Reads an expression. Raises UserError with the part that is not allowed."""
        try:
            tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError):
            raise UserError(f"{where}: not an expression: {text!r}") from None
        for node in _nodes(tree, where):
            if isinstance(node, ast.Constant) and not isinstance(node.value, int | float | str):
                raise UserError(f"{where}: {ast.unparse(node)!r} is not allowed in an expression")
        return cls(text, where, tree)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the expression names, in the order of the text."""
        names = (key_of(node) for node in _nodes(self.tree, self.where))
        return tuple(dict.fromkeys(name for name in names if name))

    def value(self, values: Values) -> Value:
        """The value of the expression. `values` must contain every key that the expression
        names."""
        return _value(self.tree, values)


def key_of(node: ast.AST) -> str:
    """The machine key that a node of the syntax tree names, such as `net.remote.cpu_us_per_kb`. The
    result is empty if the node is not the name of a key."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _nodes(node: ast.expr, where: str) -> Iterator[ast.expr]:
    """The nodes of a syntax tree. Raises UserError for a node that is not allowed in an
    expression."""
    yield node
    inner: list[ast.expr]
    match node:
        case ast.BoolOp(values=inner):
            pass
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            inner = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            inner = [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            inner = [left, right]
        case ast.Call(func=ast.Name(id=name), args=inner, keywords=[]) if name in FUNCTIONS:
            pass
        case ast.Constant() | ast.Name():
            inner = []
        case ast.Attribute() if key_of(node):
            inner = []
        case _:
            raise UserError(f"{where}: {ast.unparse(node)!r} is not allowed in an expression")
    for child in inner:
        yield from _nodes(child, where)


def _value(node: ast.expr, values: Values) -> Value:
    match node:
        case ast.BoolOp(op=ast.And(), values=inner):
            return all(_value(child, values) for child in inner)
        case ast.BoolOp(values=inner):
            return any(_value(child, values) for child in inner)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, values)
        case ast.UnaryOp(operand=operand):
            return operator.neg(_value(operand, values))  # type: ignore[arg-type]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_value(left, values), _value(right, values))
        case ast.Compare(left=left, ops=[compare], comparators=[right]):
            return _COMPARE[type(compare)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](*(_value(argument, values) for argument in arguments))
        case ast.Constant(value=constant):
            return constant  # type: ignore[return-value]
    return values[key_of(node)]


@dataclass(frozen=True)
class Template:
    """A text with expressions in braces, such as "{l1d.ways} ways". `parts` contains texts and
    expressions alternately."""

    parts: tuple[str | Expression, ...]

    @classmethod
    def parse(cls, text: str, where: str) -> "Template":
        """Reads a text. Raises UserError with the wrong expression in braces."""
        pieces = re.split(r"\{([^{}]*)\}", text)
        return cls(
            tuple(
                Expression.parse(piece, where) if number % 2 else piece
                for number, piece in enumerate(pieces)
            )
        )

    def fill(self, values: Values, show: Callable[[str, Value], str]) -> str:
        """The text with values in place of the expressions. `show` converts the value of a key to
        text. If a computed value is not a whole number, the text shows the value with three
        significant digits."""

        def filled(part: str | Expression) -> str:
            if isinstance(part, str):
                return part
            value, name = part.value(values), key_of(part.tree)
            if name:
                return show(name, value)
            return f"{value:.3g}" if isinstance(value, float) else str(value)

        return "".join(map(filled, self.parts))
