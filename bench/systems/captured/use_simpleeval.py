"""Evaluates expressions of users without running arbitrary code."""

import simpleeval
from simpleeval import EvalWithCompoundTypes, SimpleEval, simple_eval

TYPED = [
    "21 + 21",
    "2 ** 8 - 1",
    "7 // 2 + 7 % 2 - -3",
    "'fish' + 'es'",
    "1 < 2 <= 2 and not False",
    "'yes' if 3 > 2 else 'no'",
    "int('42') + float('0.5')",
    "'abc'[1]",
    "'abc'[0:2]",
    "'a' in 'abc'",
    "5 & 3 | 8 ^ 1",
    "~5",
    "True or unknown",
    "f'{1 + 1} fish'",
    "'%d' % 3",
]

WRONG = [
    "2 **",
    "9 ** 9 ** 9",
    "unknown + 1",
    "missing(3)",
    "'x' * 10000000",
    "__import__('os')",
    "'a'.__class__",
    "a = 1",
    "1 / 0",
    "[1, 2]",
    "lambda: 3",
    "(1).real.__doc__",
]


def compute():
    for text in TYPED:
        print(text, simple_eval(text))
    print(simple_eval("a * b", names={"a": 6, "b": 7}))
    print(
        simple_eval(
            "double(a) + a", names={"a": 4}, functions={"double": lambda number: number * 2}
        )
    )
    print(simple_eval("item", names=lambda node: node.id * 2))
    calculator = SimpleEval(names={"price": 3})
    calculator.names["count"] = 4
    print(
        calculator.eval("price * count"), calculator.eval("price - 1"), sorted(calculator.names)[:2]
    )
    parsed = calculator.parse("price + 1")
    print(calculator.eval("price + 1", previously_parsed=parsed))
    compound = EvalWithCompoundTypes(names={"rows": [3, 1, 2]})
    print(
        compound.eval("[x * 2 for x in rows if x > 1]"),
        compound.eval("{'a': 1}['a']"),
        compound.eval("(1, 2)"),
    )
    print(compound.eval("{1, 2, 2}"), compound.eval("list((1, 2))"))


def refuse():
    for text in WRONG:
        try:
            print(simple_eval(text))
        except (SyntaxError, ValueError, ZeroDivisionError, simpleeval.InvalidExpression) as error:
            print(type(error).__name__, str(error)[:60])


if __name__ == "__main__":
    compute()
    refuse()
