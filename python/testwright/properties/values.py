"""Encodes values as JSON (a kind and its parts), and as expressions that rebuild them."""

import dataclasses
import datetime
import decimal
import enum
import fractions
import types

SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def encode(value, depth=0):
    """Encodes a value as a list of its kind and its parts."""
    kind = type(value)
    if value is None:
        return ["none"]
    if kind is bool:
        return ["bool", value]
    if kind is int:
        return ["int", str(value)]
    if kind is float:
        return ["float", repr(value)]
    if kind is str:
        return text(value)
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is complex:
        return ["complex", repr(value.real), repr(value.imag)]
    if kind is decimal.Decimal:
        return ["decimal", str(value)]
    if kind is fractions.Fraction:
        return ["fraction", str(value.numerator), str(value.denominator)]
    if kind is datetime.datetime and value.tzinfo is None:
        return ["moment", value.isoformat(" ")]
    if kind is datetime.date:
        return ["date", value.isoformat()]
    if kind is datetime.timedelta:
        return ["duration", str(value.days), str(value.seconds), str(value.microseconds)]
    if kind is range:
        return ["range", str(value.start), str(value.stop), str(value.step)]
    if depth > 50:
        return ["other", kind.__name__]
    for name, sequence in SEQUENCES.items():
        if kind is sequence:
            return [name, [encode(item, depth + 1) for item in value]]
    if kind is dict:
        return ["dict", [[encode(part, depth + 1) for part in entry] for entry in value.items()]]
    return of_class(value, depth)


def text(value):
    """Encodes a string, unless it cannot be write_expression to a text file."""
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return ["other", "str"]
    return ["text", value]


def of_class(value, depth):
    name = type(value).__name__
    if isinstance(value, enum.Enum) and value.name:
        return ["enum", name, value.name]
    fields = fields_of(value)
    if fields is not None:
        parts = [[field, encode(getattr(value, field), depth + 1)] for field in fields]
        return ["record", name, parts]
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        return ["function", value.__name__]
    return ["other", name]


def fields_of(value):
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value) if field.init]
    if isinstance(value, tuple) and hasattr(type(value), "_fields"):
        return list(type(value)._fields)
    if hasattr(type(value), "__attrs_attrs__"):
        return [attribute.name for attribute in type(value).__attrs_attrs__ if attribute.init]
    return None


def names_of(home):
    """Returns the names that recipes may use: those of the module, and those that `repr` needs."""
    own = {"datetime": datetime, "Decimal": decimal.Decimal, "Fraction": fractions.Fraction}
    return {**own, **vars(home)}


def recipe(value, home, known=None):
    """Returns an expression that rebuilds an equal value, or `None`; `known` is one to try."""
    for write in (write_expression, lambda value: known or "", hypothesis_repr):
        try:
            text = write(value)
        except Exception:
            continue
        for expression in spellings(text, type(value)):
            try:
                again = eval(expression, names_of(home))
                if again is value or encode(again) == encode(value):
                    return expression
            except Exception:
                continue
    return None


def spellings(text, kind):
    """Yields an expression as it is, then with an import for a class that the property's module does not name."""
    yield text
    if text.startswith(kind.__qualname__):
        yield f"__import__({kind.__module__!r}, fromlist=['']).{text}"


def hypothesis_repr(value):
    """Returns a value as Hypothesis prints it: a value that it built with a call is that call."""
    from hypothesis.control import current_build_context
    from hypothesis.vendor.pretty import RepresentationPrinter

    printer = RepresentationPrinter(context=current_build_context())
    printer.pretty(value)
    return printer.getvalue()


def write_expression(value):
    """Returns an expression for a value."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        items = "".join(write_expression(item) + ", " for item in value)
        return f"{kind.__name__}([{items}])"
    if kind is dict:
        return (
            "{"
            + "".join(
                f"{write_expression(key)}: {write_expression(item)}, "
                for key, item in value.items()
            )
            + "}"
        )
    if kind is float and repr(value) in ("inf", "-inf", "nan"):
        return f"float({repr(value)!r})"
    if isinstance(value, enum.Enum):
        return f"{kind.__qualname__}.{value.name}"
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        return value.__qualname__
    return repr(value)


def evaluate(text, home):
    """Evaluates an expression."""
    return eval(text, names_of(home))
