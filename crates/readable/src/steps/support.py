import datetime
import decimal
import fractions
import re
import types

# Shared by all steps: parsing values from their phrases, and keeping errors. Needs only Python itself.

WORDS = {"nothing": None, "true": True, "false": False}
NUMBERS = {"infinity": float("inf"), "minus infinity": float("-inf"), "not-a-number": float("nan")}
EMPTY = {
    "text": str,
    "list": list,
    "group": tuple,
    "set": set,
    "fixed set": frozenset,
    "dictionary": dict,
    "byte string": bytes,
}
KINDS = (
    "value",
    "number",
    "text",
    "list",
    "pair",
    "group",
    "set",
    "fixed set",
    "dictionary",
    "bytes",
    "complex number",
    "exact number",
    "fraction",
    "date",
    "moment",
    "duration",
)
HAVE = r"I have (?P<phrase>nothing|the (?:empty|numbers|" + "|".join(KINDS) + r")\b.*)"
ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\t": "\t"}
UNITS = {"day": "days", "hour": "hours", "minute": "minutes", "second": "seconds"}


class Phrase:
    """A text that is parsed from left to right."""

    def __init__(self, text, position=0):
        self.text = text
        self.position = position

    def skip(self, word):
        """Consumes a word if it comes next, and returns true if it did."""
        found = self.text.startswith(word, self.position)
        self.position += len(word) if found else 0
        return found

    def take(self, pattern, what):
        """Consumes and returns the text that matches a pattern."""
        found = re.compile(pattern).match(self.text, self.position)
        if not found:
            raise ValueError(
                f"{what} is missing at {self.text[self.position :]!r} in {self.text!r}"
            )
        self.position = found.end()
        return found.group()

    def value(self):
        """Parses a value without its kind. Kinds without a notation of their own are named."""
        for word, value in {**WORDS, **NUMBERS}.items():
            if self.skip(word):
                return value
        if self.skip("empty set"):
            return set()
        if self.text.startswith('"', self.position):
            return self.quoted()
        if self.skip("["):
            return self.items("]")
        if self.skip("("):
            return tuple(self.items(")"))
        if self.skip("{"):
            return self.braces()
        if self.skip("the "):
            return self.kind()
        return number_of(self.take(r"-?[0-9][0-9.]*(?:e[+-]?[0-9]+)?", "a value"))

    def kind(self):
        """Parses a kind and its value."""
        if self.skip("empty "):
            return EMPTY[
                self.take("|".join(sorted(EMPTY, key=len, reverse=True)), "what is empty")
            ]()
        if self.skip("numbers from "):
            return self.range()
        kind = self.take("|".join(sorted(KINDS, key=len, reverse=True)), "a kind")
        self.take(" ", "a blank")
        if kind == "bytes":
            return bytes.fromhex(self.take("[0-9a-f]{2}(?: [0-9a-f]{2})*", "a byte"))
        if kind == "complex number":
            return complex(self.take(r"[-+.0-9a-z]+j", "a complex number"))
        if kind == "exact number":
            return decimal.Decimal(self.take(r"[-+.0-9A-Za-z]+", "a number"))
        if kind == "fraction":
            return fractions.Fraction(self.take(r"-?[0-9]+/[0-9]+", "a fraction"))
        if kind == "date":
            return datetime.date.fromisoformat(self.take(r"[-0-9]+", "a date"))
        if kind == "moment":
            return datetime.datetime.fromisoformat(self.take(r"[-0-9]+ [0-9:.+-]+", "a moment"))
        if kind == "duration":
            return self.duration()
        value = self.value()
        return frozenset(value) if kind == "fixed set" else value

    def quoted(self):
        """Parses a text between quotation marks."""
        inside = self.take(r'"(?:[^"\\]|\\.)*"', "a text")[1:-1]
        escape = re.compile(r"\\u\{([0-9a-f]+)\}|\\.")
        return escape.sub(
            lambda found: chr(int(found[1], 16)) if found[1] else ESCAPES[found[0]], inside
        )

    def items(self, end):
        """Parses the items of a list or group."""
        items = []
        while not self.skip(end):
            if items:
                self.take(", ", "a comma")
            items.append(self.value())
        return items

    def braces(self):
        """Parses a set or a dictionary."""
        if self.skip("}"):
            return {}
        first = self.value()
        if not self.skip(": "):
            return {first, *self.rest_of_set()}
        entries = {first: self.value()}
        while not self.skip("}"):
            self.take(", ", "a comma")
            key = self.value()
            self.take(": ", "a colon")
            entries[key] = self.value()
        return entries

    def rest_of_set(self):
        """Parses the members of a set after the first."""
        while not self.skip("}"):
            self.take(", ", "a comma")
            yield self.value()

    def range(self):
        """Parses a range with both bounds included."""
        first = int(self.take("-?[0-9]+", "a number"))
        self.take(" to ", "the last number")
        last = int(self.take("-?[0-9]+", "a number"))
        step = int(self.take("-?[0-9]+", "a number")) if self.skip(" in steps of ") else 1
        return range(first, last + (1 if step > 0 else -1), step)

    def duration(self):
        """Parses days, hours, minutes and seconds."""
        sign = -1 if self.skip("minus ") else 1
        parts = self.take(
            r"[0-9.]+ (?:day|hour|minute|second)s?(?:(?:, | and )[0-9.]+ [a-z]+)*", "a duration"
        )
        length = datetime.timedelta()
        for number, unit in re.findall(r"([0-9.]+) (day|hour|minute|second)", parts):
            whole, _, fraction = number.partition(".")
            length += datetime.timedelta(**{UNITS[unit]: int(whole)})
            length += datetime.timedelta(microseconds=int(fraction.ljust(6, "0")))
        return sign * length


def number_of(digits):
    """Returns an int if the digits are those of one, and a float otherwise."""
    return int(digits) if re.fullmatch("-?[0-9]+", digits) else float(digits)


def read_phrase(text):
    """Parses a phrase such as 'the list [1, 2]'."""
    phrase = Phrase(text)
    value = phrase.kind() if phrase.skip("the ") else phrase.value()
    if phrase.position != len(text):
        raise ValueError(f"{text[phrase.position :]!r} is left over in {text!r}")
    return value


def name_inputs(store, *names):
    """Names the values that were stored without a name, in order."""
    store.update(zip(names, store.get("_given", [])))


def read_along(line, parts, store):
    """Parses the values in a line and compares each with the one stored under its name."""
    phrase = Phrase(line)
    for part, name in parts:
        if name is None:
            phrase.take(re.escape(part), repr(part))
        else:
            value = phrase.value()
            assert is_same(value, store[name]), (
                f"{name} is {store[name]!r} above, and {value!r} in this line"
            )


def is_same(one, other):
    """Returns true if two values are equal and of one type; not-a-number equals itself."""
    return type(one) is type(other) and (one == other or repr(one) == repr(other))


def seen(store, *names):
    """Returns the values of names, for the message of a failed check."""
    return ", ".join(f"{name} is {store[name]!r}" for name in names if name in store)


def attempt(store, action, name=None):
    """Performs an action that may fail, and keeps its error instead of raising it."""
    store["_error"] = None
    try:
        answer = action()
        if name is not None:
            store[name] = answer
    except Exception as error:
        store["_error"] = error


def fails(store, errors, pattern=None):
    """Checks that the last attempt failed with one of these errors."""
    error = store.get("_error")
    assert error is not None, "no error was raised"
    assert isinstance(error, errors), f"another error was raised: {error!r}"
    assert pattern is None or re.search(pattern, str(error)), f"the error says {str(error)!r}"


def raised(store):
    """Returns the kept error in the form in which test runners pass it on."""
    error = store["_error"]
    return types.SimpleNamespace(value=error, exception=error, type=type(error))


def remember(store, name, find):
    """Keeps a value before an action, for checks that compare with it."""
    try:
        store[name] = find()
    except Exception:
        pass  # another scenario with the same step has nothing to remember


def owner(store, kind):
    """Returns the test object whose methods a scenario uses."""
    if "_owner" not in store:
        store["_owner"] = kind()
    return store["_owner"]


def imported(statement, name):
    """Returns a name that an import inside a property binds."""
    names = {}
    exec(statement, names)
    return names[name]
