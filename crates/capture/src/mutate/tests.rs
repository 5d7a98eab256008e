use testwright_source::check_module;

use super::*;

/// Finds the mutants of a text as `kind: changed line`. Checks that each is valid Python and changes
/// no other line.
fn changed(text: &str) -> Vec<String> {
    let found = mutants(text).expect("it is Python");
    let mut texts = Vec::new();
    for mutant in found {
        let applied = mutant.apply(text);
        assert_eq!(check_module(&applied), [], "{applied}");
        assert_eq!(applied.lines().count(), text.lines().count(), "{applied}");
        assert_ne!(applied, text);
        assert!(mutant.statement.contains(mutant.line), "{mutant:?}");
        let (_, after) = mutant.preview(text);
        texts.push(format!("{}: {}", mutant.kind, after.trim_start()));
    }
    texts
}

/// Finds the mutants of one statement inside of a function.
fn of(statement: &str) -> Vec<String> {
    changed(&format!("def f():\n    {statement}\n"))
}

#[test]
fn comparisons() {
    assert_eq!(
        of("x = a < b"),
        ["comparison: x = a <= b", "comparison: x = a >= b"]
    );
    assert_eq!(
        of("x = a >= b"),
        ["comparison: x = a < b", "comparison: x = a > b"]
    );
    assert_eq!(of("x = a == b"), ["comparison: x = a != b"]);
    assert_eq!(of("x = a in b"), ["membership: x = a not in b"]);
    assert_eq!(of("x = a not  in b"), ["membership: x = a in b"]);
    assert_eq!(of("x = a is not b"), ["identity: x = a is b"]);
    assert_eq!(
        of("x = a is (not b)").first().map(String::as_str),
        Some("identity: x = a is not (not b)")
    );
    assert_eq!(of("x = a is None"), ["identity: x = a is not None"]);
    assert_eq!(
        of("x = (a) == (b) != c"),
        [
            "comparison: x = (a) != (b) != c",
            "comparison: x = (a) == (b) == c"
        ]
    );
}

#[test]
fn numbers_beside_a_limit_are_not_tried_twice() {
    assert_eq!(
        of("x = a > 2"),
        [
            "comparison: x = a <= 2",
            "comparison: x = a >= 2",
            "number: x = a > 3"
        ]
    );
    assert_eq!(
        of("x = 2 > a"),
        [
            "number: x = 1 > a",
            "comparison: x = 2 <= a",
            "comparison: x = 2 >= a"
        ]
    );
    let negative = of("x = a < -2");
    assert!(negative.contains(&"number: x = a < -3".to_owned()));
    assert!(!negative.contains(&"number: x = a < -1".to_owned()));
}

#[test]
fn operators_between_operands() {
    for (before, after) in [
        ("+", "-"),
        ("-", "+"),
        ("*", "/"),
        ("/", "*"),
        ("//", "/"),
        ("%", "//"),
        ("**", "*"),
        ("@", "*"),
        ("<<", ">>"),
        (">>", "<<"),
        ("|", "&"),
        ("&", "|"),
        ("^", "|"),
    ] {
        assert_eq!(
            of(&format!("x = a {before} b")),
            [format!("arithmetic: x = a {after} b")]
        );
        assert_eq!(
            of(&format!("x {before}= b")),
            [format!("arithmetic: x {after}= b")]
        );
    }
    assert_eq!(of("x = 'a' + b"), ["text: x = 'XXa' + b"]);
    assert_eq!(of("x = a + []"), [""; 0]);
}

#[test]
fn operators_before_an_operand() {
    assert_eq!(of("x = -a"), ["arithmetic: x = +a"]);
    assert_eq!(of("x = ~a"), ["arithmetic: x = a"]);
    assert_eq!(of("x = not a"), ["boolean: x = a"]);
    assert_eq!(of("x = not(a)"), ["boolean: x = (a)"]);
}

#[test]
fn connectives() {
    assert_eq!(
        of("x = a and b and c"),
        ["boolean: x = a or b and c", "boolean: x = a and b or c"]
    );
    assert_eq!(of("x = (a) or (b)"), ["boolean: x = (a) and (b)"]);
}

#[test]
fn constants() {
    assert_eq!(of("x = 5"), ["number: x = 4", "number: x = 6"]);
    assert_eq!(of("x = 0"), ["number: x = -1", "number: x = 1"]);
    assert_eq!(of("x = 0x1F"), ["number: x = 0x1e", "number: x = 0x20"]);
    assert_eq!(of("x = 1.5"), ["number: x = 0.5", "number: x = 2.5"]);
    assert_eq!(of("x = True"), ["constant: x = False"]);
    assert_eq!(of("x = None"), ["constant: x = 0"]);
    assert_eq!(of("x = ''"), ["text: x = 'XX'"]);
    assert_eq!(of("x = rb'''a'''"), ["text: x = rb'''XXa'''"]);
    assert_eq!(
        of("x = f'{a + 1}b'"),
        [
            "text: x = f'XX{a + 1}b'",
            "arithmetic: x = f'{a - 1}b'",
            "number: x = f'{a + 0}b'",
            "number: x = f'{a + 2}b'"
        ]
    );
    assert_eq!(of("x = 'a' 'b'"), ["text: x = 'XXa' 'b'"]);
}

#[test]
fn loops() {
    let text = "def f(items):\n    for item in items:\n        if item:\n            break\n        continue\n";
    assert_eq!(
        changed(text),
        ["condition: if not (item):", "loop: continue", "loop: break"]
    );
}

#[test]
fn returned_values() {
    assert_eq!(of("return a"), ["return: return None"]);
    assert_eq!(of("return"), [""; 0]);
    assert_eq!(of("return None"), ["constant: return 0"]);
    assert_eq!(of("return 'a'"), ["text: return 'XXa'"]);
    assert_eq!(
        changed("def f():\n    yield a\n    return b\n"),
        [""; 0],
        "results of generators are hardly ever noticed"
    );
}

#[test]
fn removed_statements() {
    assert_eq!(of("a.b = c"), ["statement: pass"]);
    assert_eq!(of("a['k'] = c"), ["statement: pass", "text: a['XXk'] = c"]);
    assert_eq!(of("a.b: int = c"), ["statement: pass"]);
    assert_eq!(of("a.b += c"), ["statement: pass", "arithmetic: a.b -= c"]);
    assert_eq!(of("del a[b]"), ["statement: pass"]);
    assert_eq!(of("a(b)"), ["statement: pass"]);
    assert_eq!(of("a = b"), [""; 0]);
    assert_eq!(
        changed("async def f():\n    await a(b)\n"),
        ["statement: pass"]
    );
    assert_eq!(of("raise E from e"), ["raise: pass"]);
}

#[test]
fn a_statement_of_several_lines_leaves_its_lines_behind() {
    let text = "def f():\n    a(\n        b,\n    )\n    return c\n";
    let found = mutants(text).expect("it is Python");
    let removed = found.first().expect("a mutant");
    assert_eq!(
        removed.apply(text),
        "def f():\n    pass\n\n\n    return c\n"
    );
    assert_eq!(
        removed.preview(text),
        ("    a( …".to_owned(), "    pass".to_owned())
    );
    assert_eq!((removed.statement.first, removed.statement.last), (2, 4));
}

#[test]
fn conditions() {
    assert_eq!(of("assert a"), ["condition: assert not (a)"]);
    assert_eq!(
        of("x = a if b else c"),
        ["condition: x = a if not (b) else c"]
    );
    assert_eq!(
        of("x = [a for a in b if a.c]"),
        ["condition: x = [a for a in b if not (a.c)]"]
    );
    assert_eq!(of("assert not a"), ["boolean: assert a"]);
    assert_eq!(of("assert a == b"), ["comparison: assert a != b"]);
    let both =
        "def f():\n    if (a and\n            b):\n        pass\n    elif c:\n        pass\n";
    assert_eq!(
        changed(both),
        [
            "condition: if (not (a and",
            "boolean: if (a or",
            "condition: elif not (c):"
        ]
    );
    assert_eq!(
        changed("def f():\n    while 1:\n        pass\n"),
        ["condition: while not (1):"]
    );
    assert_eq!(
        changed("def f():\n    while True:\n        pass\n"),
        ["constant: while False:"]
    );
}

#[test]
fn indices() {
    assert_eq!(
        of("x = a[b:c]"),
        ["index: x = a[b + 1:c]", "index: x = a[b:c - 1]"]
    );
    assert_eq!(of("x = a[1:]"), ["number: x = a[0:]", "number: x = a[2:]"]);
    assert_eq!(
        of("x = a[:b or c]"),
        ["index: x = a[:(b or c) - 1]", "boolean: x = a[:b and c]"]
    );
    assert_eq!(of("x = a[key]"), [""; 0], "it may be anything");
    assert_eq!(
        changed("def f(a):\n    for i in range(len(a)):\n        print(a[i])\n"),
        ["statement: pass", "index: print(a[i + 1])"]
    );
}

#[test]
fn defaults_of_parameters_are_met_in_the_body() {
    let text = "def f(a, b=1,\n      c='x', d=LIMIT):\n    pass\n    return a\n";
    let found = mutants(text).expect("it is Python");
    let defaults: Vec<&Mutant> = found
        .iter()
        .filter(|mutant| mutant.kind == MutantKind::Default)
        .collect();
    assert_eq!(defaults.len(), 3);
    for mutant in defaults {
        assert_eq!((mutant.reached_in.first, mutant.reached_in.last), (3, 4));
        assert_eq!((mutant.statement.first, mutant.statement.last), (1, 2));
        assert!(!mutant.in_function);
    }
}

#[test]
fn patterns_of_a_match() {
    let text = "def f(x):\n    match x:\n        case {'a': 1} if y:\n            pass\n        case None | -2:\n            pass\n";
    let found = changed(text);
    assert!(
        found.contains(&"text: case {'XXa': 1} if y:".to_owned()),
        "{found:?}"
    );
    assert!(found.contains(&"number: case {'a': 2} if y:".to_owned()));
    assert!(found.contains(&"condition: case {'a': 1} if not (y):".to_owned()));
    assert!(found.contains(&"constant: case 0 | -2:".to_owned()));
}

#[test]
fn invisible_and_unimportant_code_has_no_mutants() {
    for text in [
        "\"\"\"A module.\"\"\"\n",
        "__all__ = ['a', 'b']\n",
        "__version__ = '1.2'\n",
        "def f(a: 'int' = b) -> 'str':\n    '''Text.'''\n    a: Literal['x']\n",
        "if TYPE_CHECKING:\n    x = 1\n",
        "if typing.TYPE_CHECKING:\n    x = 1\n",
        "if __name__ == '__main__':\n    main(1)\n",
        "@cache(maxsize=128)\ndef f():\n    pass\n",
        "def f():\n    logger.debug('text %s', 1)\n    self._log.info('x')\n",
        "T = TypeVar('T')\n",
        "class A(B, metaclass=C):\n    __slots__ = ('a',)\n",
        "if sys.version_info >= (3, 12):\n    from a import b\n",
        "type X = Literal[1]\n",
        "X = typing.Literal['a', 'b']\n",
    ] {
        assert_eq!(changed(text), [""; 0], "{text}");
    }
}

#[test]
fn code_of_modules_and_classes_is_distinguished_from_that_of_functions() {
    let text =
        "LIMIT = 1\nclass A:\n    size = 2\n    def f(self):\n        return 3\nf = lambda: 4\n";
    let found = mutants(text).expect("it is Python");
    let inside: Vec<(usize, bool)> = found
        .iter()
        .map(|mutant| (mutant.line, mutant.in_function))
        .collect();
    let expected = [
        (1, false),
        (1, false),
        (3, false),
        (3, false),
        (5, true),
        (5, true),
    ];
    assert_eq!(inside.get(..6), Some(&expected[..]));
    assert!(
        inside
            .iter()
            .skip(6)
            .all(|(line, inside)| *line == 6 && !inside)
    );
}

#[test]
fn odd_layouts_stay_python() {
    for text in [
        "if a: x = 1; y = 2\nelse: z = 3\n",
        "def f(): return 1 if a else 2\n",
        "def f():\n\tif a:\n\t\treturn (\n\t\t\tb # and\n\t\t\tand c\n\t\t)\n\telif d: raise E(\n\t\t1)\n",
        "def f():\r\n    a.b = [\r\n        1,\r\n    ]\r\n    return -1\r\n",
        "x = a if b else \\\n    1\n",
        "def f():\n    with a(1) as b, c: d()\n    try: e()\n    except F: raise\n    finally: g(not\nh)\n",
        "é = 'ü' + f'{ä!r:>{1 + 2}}'; x = not -1 ** -2\n",
        "async def f():\n    return [x async for x in y if x] + [*z, 1]\n",
        "x = {**a, 'b': lambda c=1, *d: c < d < 3}\n",
    ] {
        assert!(!changed(text).is_empty(), "{text}");
    }
}

#[test]
fn columns_count_characters() {
    let text = "def f():\n    x = 'äöü' and b\n";
    let found = mutants(text).expect("it is Python");
    let places: Vec<(usize, usize)> = found
        .iter()
        .map(|mutant| (mutant.line, mutant.column))
        .collect();
    assert_eq!(places, [(2, 10), (2, 15)]);
}

#[test]
fn invalid_python_has_a_problem() {
    assert!(mutants("def f(:\n").is_err());
}

proptest::proptest! {
    /// Every mutant of a generated text is valid Python and changes only its own line.
    #[test]
    fn mutants_of_anything_are_python(lines in proptest::collection::vec(0..LINES.len(), 1..12)) {
        let mut text = String::from("def f(a, b=1):\n    for i in range(3):\n");
        for line in lines {
            text.push_str("        ");
            text.push_str(LINES[line]);
            text.push('\n');
        }
        changed(&text);
    }
}

const LINES: [&str; 12] = [
    "a.b[i] = (i +\n  1)",
    "if a: break",
    "x = [i for i in a[i:-1] if not i]",
    "raise E('x') from None",
    "a(lambda: i < 2, k=\"\"\"t\n\"\"\")",
    "if a == 1 or \\\n   b: continue",
    "del a[0], a[1]",
    "return (yield)",
    "x: int = not a; y = -1",
    "assert a, 'text'",
    "def g(c=None): return c is None",
    "while a and b: a -= 1",
];
