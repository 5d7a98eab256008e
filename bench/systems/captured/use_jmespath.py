"""Asks questions about data, as scripts do with the answers of a web service."""

import jmespath
from jmespath import exceptions, functions

DATA = {
    "people": [
        {"name": "ann", "age": 31, "tags": ["a", "b"], "home": {"city": "York"}},
        {"name": "bob", "age": 4, "tags": [], "home": None},
        {"name": "cy", "age": 57, "tags": ["b"], "home": {"city": "Bath"}},
    ],
    "total": 3,
    "nested": {"deep": {"value": [1, 2, [3, [4]]]}},
    "words": "hello",
}

ASKED = [
    "total",
    "people[0].name",
    "people[-1]",
    "people[9]",
    "people[*].name",
    "people[1:].age",
    "people[::-1].name",
    "people[?age > `10`].name",
    "people[?age >= `4` && age < `50`].name | [0]",
    "people[?home.city == 'York' || name == 'bob'].age",
    "people[?!home].name",
    "people[].tags[]",
    "nested.deep.value[]",
    "nested.*.value",
    "{names: people[*].name, count: total}",
    "[total, words]",
    "people | length(@)",
    "sort_by(people, &age)[0].name",
    "max_by(people, &age).name",
    "sum(people[*].age)",
    "join(', ', people[*].name)",
    "contains(words, 'ell')",
    "keys(nested)",
    "to_string(`[1, 2]`)",
    "to_number('12')",
    "reverse(words)",
    "not_null(missing, total)",
    "type(people)",
    "map(&name, people)",
    '"words"',
    'merge(`{"a": 1}`, `{"b": 2}`)',
]

WRONG = [
    "people[",
    "foo.",
    "'open",
    "people[?age >]",
    "unknown(total)",
    "length(total)",
    "abs()",
    "a b",
    "`{bad`",
    "#",
    "",
]


class Own(functions.Functions):
    @functions.signature({"types": ["string"]})
    def _func_shout(self, text):
        return text.upper() + "!"


def ask():
    for question in ASKED:
        print(question, jmespath.search(question, DATA))
    compiled = jmespath.compile("people[*].age")
    print(compiled.search(DATA), compiled.search({}), compiled.parsed["type"])
    print(jmespath.search("shout(words)", DATA, jmespath.Options(custom_functions=Own())))


def refuse():
    for question in WRONG:
        try:
            print(jmespath.search(question, DATA))
        except exceptions.JMESPathError as error:
            print(type(error).__name__, str(error).splitlines()[0])


if __name__ == "__main__":
    ask()
    refuse()
