//! Robustness: no source makes an explanation fail, and whatever cannot be read is quoted.

use proptest::prelude::*;
use testwright_readable::explain::{Options, explain};
use testwright_readable::render;

fn explain_source(file: &str, text: &str) {
    if let Ok(rendered) = explain(file, text, &Options::default()) {
        for level in 0..4 {
            let document = rendered.document.at_verbosity(level);
            let written = render::text(&document);
            assert!(
                written.ends_with('\n') && !written.contains('\u{0}'),
                "{written}"
            );
            assert!(
                !written.contains("__hole_") && !written.contains("__first__"),
                "{written}"
            );
            assert!(render::markdown(&document).starts_with("# "));
            assert!(render::html(&document).ends_with("</html>\n"));
        }
        assert!(!rendered.unmatched().contains('\u{0}'));
    }
}

#[test]
fn odd_statements_are_told() {
    for statement in [
        "a, *b = x",
        "*a, b = x\n    return a + b",
        "(a, (b, c)), d = x\n    t.append(d)",
        "t[0], t[1] = t[1], t[0]",
        "t[x:x + 2] = []",
        "del t[x], n",
        "n: int = 3",
        "n = m = x",
        "for a, (b, c) in x.items():\n        t.append(b)\n    else:\n        n = 1\n    return a",
        "for i, v in enumerate(t):\n        if v:\n            break\n        t[i] = 0",
        "while True:\n        if n:\n            return 1\n        n += 1",
        "try:\n        return t.pop()\n    except (IndexError, ValueError) as e:\n        raise\n    except:\n        pass\n    else:\n        n = 1\n    finally:\n        n = 2",
        "with a as b, c:\n        return b",
        "return [f(y) for y in t if y for z in y]",
        "return {y: z for y, z in x}",
        "return lambda y: y + x",
        "return f'{x!r} of {n:>3}'",
        "yield x",
        "import os; os.remove('x')",
        "def inner(): return 1\n    return inner()",
        "class C: pass\n    return C()",
        "return (y := x) + y",
        "return x if n else t if m else None",
        "return not (x and n) or t and not m",
        "global n\n    n, n = 1, n\n    n = n",
        "x.y.z[0].w += 1",
        "t.append(t.pop())",
        "t.sort(key=len, reverse=x)",
        "return 0 < x <= n != 5 is t not in m",
        "return 10 ** 100 + 0x10 - 1e308 * 1j",
        "assert all(v in t for v in x), 'no'",
        "match x:\n        case [1, *rest] if rest: pass\n        case {'a': b, **c}: pass\n        case _: pass",
        "return x[::2][1:][-1]",
        "nonlocal_ = 1\n    del nonlocal_\n    return nonlocal_",
        "async_ = await_\n    return (...)",
        "return b'x' + bytes(3)",
        "if x: pass",
        "if x: return\n    else: return",
        "for v in t: pass",
        "while x: pass",
        "self.x = 1",
        "raise",
        "raise x",
        "print('x' + 1)",
    ] {
        let model = format!(
            "t, n, m = [], 0, {{}}\ndef act(x):\n    {statement}\nstate = ('t', 'n', 'm')\nactions = (act,)\n"
        );
        explain_source("model.py", &model);
        let changed = model.replace("def act(x):\n", "def act(x):\n    global t, n, m\n");
        explain_source("model.py", &changed);
    }
}

#[test]
fn odd_modules_are_told_or_refused() {
    for text in [
        "",
        "actions = ()",
        "actions = 3",
        "actions = (missing,)",
        "def a(): pass\nactions = (a,)\nstate = 5",
        "def a(): pass\nactions = (a,)\nstate = ('missing', 3)",
        "def a(x): pass\nactions = (a,)\nenablers = {a: 3}\ndomains = {a: 4, b: {}}",
        "def a(x): pass\nactions = (a,)\ndomains = {a: {'x': range(0)}}",
        "def a(x): pass\nactions = (a,)\ndomains = {a: {'x': range(0, 10**9, 3), 'y': 1}}",
        "a = a\nb = c\nc = b\nactions = (a, b, c)",
        "A = B + 1\nB = A + 1\ndef a(): return A\nactions = (a,)",
        "graph = ()\ninitial = 0",
        "graph = ((0, (f, (), None), 0),)\ninitial = 0\naccepting = []",
        "class M(RuleBasedStateMachine): pass",
        "class M(RuleBasedStateMachine):\n    @rule()\n    def r(): pass\n    @invariant()\n    def i(self): pass",
        "class M:\n    @rule(x=1, target=3)\n    @precondition()\n    def r(self, x, *y, **z): return self.w(x)",
        "def a(): return a()\nactions = (a,)\nenablers = {a: (a,)}",
        "def Accepting(): print(1)\ndef StateInvariant(): x = 1\ndef a(): pass\nactions = (a,)",
    ] {
        explain_source("model.py", text);
    }
    for text in [
        "pool: <x> 1",
        "pool: <x> 1\n<x> := <[1..3]>\n<x> = <x>\ndel <x>\n<x>.<[f,g]>(<[+,-]>1)\nx = <[a,b]>\nif <x>: pass\n'<x>'\n",
        "pool: <x> 1 REF\n<x> := 1\n<x>.a.b[<x>] => pre<(<x,1>)> == <x,1> and REF:<x,1> is None\nproperty: True\nproperty: <x>\nreference: ( ==> )\ncompare: (\n",
        "@def f(x): return x + f(x)\n<@\nY = 3\n@>\npool: <x> 1\n<x> := f(Y)\nf(<x>) -> g(<x>, <x>)\ninit: <x> = 1; <x> = 2\nfinally: f(1)\n",
    ] {
        explain_source("harness.tstl", text);
    }
}

/// Random statements of a small language.
fn statements(depth: u32) -> BoxedStrategy<String> {
    let simple = prop::sample::select(vec![
        "n += 1",
        "n = m",
        "t.append(x)",
        "y = t.pop()",
        "y = n + x",
        "n = y",
        "return y",
        "return x in t",
        "d[x] = n",
        "del d[x]",
        "raise E",
        "assert n > 0",
        "y = ask(x)",
        "helper(x)",
        "y = other(y)",
        "break_()",
        "n, m = m, n",
        "t = [v for v in t if v]",
    ])
    .prop_map(str::to_owned);
    simple
        .prop_recursive(depth, 24, 3, |inner| {
            let body = prop::collection::vec(inner, 1..3).prop_map(|all| indented(&all.join("\n")));
            let condition = prop::sample::select(vec![
                "x",
                "n > 3",
                "x in d",
                "not t",
                "y == 1",
                "n > 3 and x",
            ]);
            prop_oneof![
                (condition.clone(), body.clone(), body.clone())
                    .prop_map(|(test, then, other)| format!("if {test}:\n{then}\nelse:\n{other}")),
                (condition.clone(), body.clone())
                    .prop_map(|(test, then)| format!("if {test}:\n{then}")),
                body.clone().prop_map(|body| format!("for v in t:\n{body}")),
                (condition, body.clone()).prop_map(|(test, body)| format!("while {test}:\n{body}")),
                (body.clone(), body)
                    .prop_map(|(body, other)| format!("try:\n{body}\nexcept E:\n{other}")),
            ]
        })
        .boxed()
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn random_actions_are_told(all in prop::collection::vec(statements(3), 1..5)) {
        let body = indented(&all.join("\n"));
        let model = format!(
            "t, d, n, m = [], {{}}, 0, 0\ndef helper(x):\n    t.append(x)\ndef other(y):\n    if y: return 1\n    return y\n\
             def act(x):\n    global t, n, m\n{body}\nstate = ('t', 'd', 'n', 'm')\nactions = (act,)\n"
        );
        explain_source("model.py", &model);
    }

    #[test]
    fn random_texts_do_no_harm(text in "[ a-z0-9<>=:,.()\\[\\]{}#@%~\\-\\n\"']{0,200}") {
        explain_source("model.py", &text);
        explain_source("harness.tstl", &text);
    }
}
