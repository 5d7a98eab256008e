"""Values as JSON, in both directions: a kind, and what is said about it."""

import dataclasses
import datetime
import decimal
import enum
import fractions
import types

SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


def encode(value, home, depth=0):
    """A value as a list of a kind and its parts. `home` is the module whose names a recipe may use."""
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
        return text(value, home)
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
        return ["other", kind.__name__, None]
    for name, sequence in SEQUENCES.items():
        if kind is sequence:
            return [name, [encode(item, home, depth + 1) for item in value]]
    if kind is dict:
        return ["dict", [[encode(part, home, depth + 1) for part in entry] for entry in value.items()]]
    return of_class(value, home, depth)


def text(value, home):
    try:
        value.encode()
    except UnicodeEncodeError:  # half a pair of surrogates, which no text file can hold
        return ["other", "str", repr(value)]
    return ["text", value]


def of_class(value, home, depth):
    name = type(value).__name__
    recipe = recipe_of(value, home)
    if isinstance(value, enum.Enum) and value.name:
        return ["enum", name, value.name, recipe]
    fields = fields_of(value)
    if fields is not None:
        parts = [[field, encode(getattr(value, field), home, depth + 1)] for field in fields]
        return ["record", name, parts, recipe]
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        return ["function", value.__name__, recipe]
    return ["other", name, recipe]


def fields_of(value):
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value) if field.init]
    if isinstance(value, tuple) and hasattr(type(value), "_fields"):
        return list(type(value)._fields)
    if hasattr(type(value), "__attrs_attrs__"):
        return [attribute.name for attribute in type(value).__attrs_attrs__ if attribute.init]
    return None


def recipe_of(value, home):
    """An expression that makes the value again with the names of the module, if there is a simple one."""
    if isinstance(value, enum.Enum):
        recipe = f"{type(value).__qualname__}.{value.name}"
    elif isinstance(value, (types.FunctionType, types.BuiltinFunctionType, type)):
        recipe = value.__qualname__
    else:
        recipe = repr(value)
    try:
        again = eval(recipe, vars(home))
        return recipe if again is value or (type(again) is type(value) and again == value) else None
    except Exception:
        return None


def decode(value, home):
    """The value that was encoded. Raises ValueError if that cannot be done."""
    kind, *parts = value
    if kind == "none":
        return None
    if kind in ("bool", "text"):
        return parts[0]
    if kind == "int":
        return int(parts[0])
    if kind == "float":
        return float(parts[0])
    if kind == "bytes":
        return bytes.fromhex(parts[0])
    if kind == "complex":
        return complex(float(parts[0]), float(parts[1]))
    if kind == "decimal":
        return decimal.Decimal(parts[0])
    if kind == "fraction":
        return fractions.Fraction(int(parts[0]), int(parts[1]))
    if kind == "moment":
        return datetime.datetime.fromisoformat(parts[0])
    if kind == "date":
        return datetime.date.fromisoformat(parts[0])
    if kind == "duration":
        return datetime.timedelta(*map(int, parts))
    if kind == "range":
        return range(*map(int, parts))
    if kind in SEQUENCES:
        return SEQUENCES[kind](decode(item, home) for item in parts[0])
    if kind == "dict":
        return {decode(key, home): decode(item, home) for key, item in parts[0]}
    recipe = parts[-1]
    if recipe is None:
        raise ValueError(f"a {parts[0]} cannot be made again")
    return eval(recipe, vars(home))
