//! The layout of actions and documents (rules L1 to L9), and the traps that concern it.

use crate::small_models;

use expect_test::expect;
use small_models::{change, explained, happens, section, text, text_with};
use testwright_readable::explain::{Actor, Limits};
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;
use testwright_readable::property::PropertyModule;
use testwright_readable::render;

fn when(guards: &str) -> String {
    let model = format!(
        "t, n = [], 0\ndef act(x): t.append(x)\nstate = ('t', 'n')\nactions = (act,)\nenablers = {{act: ({guards},)}}\n"
    );
    let rendered = text("model.py", &model);
    let (_, rest) = rendered
        .split_once("  When it can happen:")
        .expect("a guard");
    let (guard, _) = rest.split_once("  What happens").expect("what happens");
    guard.trim().to_owned()
}

#[test]
fn l1_guards() {
    assert_eq!(when("lambda: True"), "at any time.");
    assert_eq!(when("lambda: 1 > 2"), "never.");
    assert_eq!(when("lambda x: x in []"), "never.");
    assert_eq!(when("lambda: n > 0"), "only if the n is greater than 0.");
    assert_eq!(
        when("lambda: n > 0, lambda x: x not in t"),
        "only if all of the following hold:\n    - the n is greater than 0\n    - the given x is not in the t"
    );
    // Constant parts are folded away, and a guard's parameters are matched by position.
    assert_eq!(
        when("lambda y: True and y in t"),
        "only if the given x is in the t."
    );
}

#[test]
fn l2_outcomes() {
    assert_eq!(
        change("n += 1\nif x:\n    return 1\nif i:\n    return 2\nm = 1\nreturn 3"),
        "- The n goes up by 1.\nIf the given x is set:\n  - Nothing else changes.\n  - It returns 1.\nOtherwise, if the given i is set:\n  - Nothing else changes.\n  - It returns 2.\nOtherwise:\n  - The m becomes 1.\n  - It returns 3."
    );
}

#[test]
fn l2_and_trap_5_otherwise_if_jumps_over_nothing() {
    // Trap 5: the event between the conditions names what the second one reads.
    assert_eq!(
        change("if x:\n    return 1\nanswer = ask(i)\nif answer:\n    return 2\nn = 1"),
        "If the given x is set:\n  - Nothing changes.\n  - It returns 1.\nOtherwise:\n  - \"ask\" is carried out with the given i, giving the answer.\n  If the answer is set:\n    - It returns 2.\n  Otherwise:\n    - The n becomes 1."
    );
}

#[test]
fn l2_choices_continue_with_otherwise_if() {
    assert_eq!(
        change("if x == 1:\n    n = 1\nelif x == 2:\n    n = 2\nelse:\n    n = 3"),
        "If the given x is 1:\n  - The n becomes 1.\nOtherwise, if the given x is 2:\n  - The n becomes 2.\nOtherwise:\n  - The n becomes 3."
    );
}

#[test]
fn l3_nothing_changes() {
    assert_eq!(change("pass"), "- Nothing changes.");
    assert_eq!(
        change("if x:\n    return 1\nreturn 2"),
        "- Nothing changes.\nIf the given x is set:\n  - It returns 1.\nOtherwise:\n  - It returns 2."
    );
    assert_eq!(
        change("n = 1\nif x:\n    return 1\nreturn 2"),
        "- The n becomes 1.\nIf the given x is set:\n  - It returns 1.\nOtherwise:\n  - It returns 2."
    );
}

#[test]
fn l4_choices_without_else() {
    assert_eq!(
        change("if x:\n    n = 1"),
        "If the given x is set:\n  - The n becomes 1.\nOtherwise:\n  - Nothing changes."
    );
    assert_eq!(
        change("m = 2\nif x:\n    n = 1"),
        "- The m becomes 2.\nIf the given x is set:\n  - The n becomes 1."
    );
    assert_eq!(
        change("m = 2\nif x:\n    pass\nelse:\n    n = 1"),
        "- The m becomes 2.\nIf the given x is not set:\n  - The n becomes 1."
    );
}

#[test]
fn l5_results() {
    assert!(change("return x").ends_with("- It returns the given x."));
    assert!(
        change("return x in t")
            .ends_with("- It returns true if the given x is in the t, and false otherwise.")
    );
    assert!(change("return f").ends_with("- It returns the f flag."));
    assert_eq!(change("return None"), "- Nothing changes.");
}

#[test]
fn l5_what_a_rule_returns_is_kept() {
    let rendered = text(
        "m.py",
        "class M(RuleBasedStateMachine):\n    keys = Bundle('keys')\n    @rule(target=keys, k=st.integers())\n    def add(self, k):\n        return k\n",
    );
    assert!(
        rendered.contains(
            "    - It returns the given k.\n    - What it returns is kept among the keys.\n"
        ),
        "{rendered}"
    );
}

#[test]
fn l6_long_locals_that_are_used_twice_are_defined() {
    let body = "y = [v for v in t if v > x and v not in s]\nn = len(y)\nt = y + y";
    let rendered = text(
        "model.py",
        &format!(
            "t, s, n = [], set(), 0\ndef act(x):\n    global t, n\n    {}\nstate = ('t', 's', 'n')\nactions = (act,)\n",
            body.replace('\n', "\n    ")
        ),
    );
    expect![[r#"
        Action: act
          Inputs:
            - x: any value
          When it can happen: at any time.
          Here:
            - the y means the elements v of the t such that v is greater than the given x and v is not in the s
          What happens:
            - The n becomes the number of elements in the y.
            - The t becomes the y followed by the y."#]]
    .assert_eq(&section(&rendered, "Action: act"));
    // A short phrase is written out, however often it is used.
    assert_eq!(
        change("y = x + 1\nn = y\nm = y"),
        "- The n becomes one more than the given x.\n- The m becomes one more than the given x."
    );
}

#[test]
fn l7_harness_headings() {
    let rendered = text(
        "h.tstl",
        "@import sut\npool: <int> 2\npool: <stack> 1\npool: <list> 1\n<int> := <[1..3]>\n<int> := <[7,8]>\n<stack> := sut.Stack()\n<stack> := sut.Stack(<int>)\n<list> := []\n~<list>.append(<int>)\n{IndexError,sut.Full} <stack>.push(<int>, <int>)\n<stack>.push(1)\n",
    );
    let titles: Vec<&str> = rendered
        .lines()
        .filter(|line| line.starts_with("Action: "))
        .collect();
    assert_eq!(
        titles,
        [
            "Action: choose an int",
            "Action: choose an int (2)",
            "Action: make a stack",
            "Action: make a stack (2)",
            "Action: set a list",
            "Action: append",
            "Action: push",
            "Action: push (2)"
        ]
    );
    for sentence in [
        "- The new int is a whole number from 1 to 3.",
        "- The new int is one of 7 or 8.",
        "- A new stack is made.",
        "- A new stack is made from the int.",
        "- The new list is the empty list.",
        "- The int is added at the end of the list.",
        "- \"push\" is carried out on the stack with the int and the second int.",
        "- The error \"index error\" is acceptable.",
        "- The error \"full\" is acceptable.",
        "When it can happen: only if there is a stack, an int and a second int.",
        "- second int: any int made so far",
    ] {
        assert!(
            rendered.contains(sentence),
            "{sentence} is not in\n{rendered}"
        );
    }
}

#[test]
fn l7_headings_say_what_is_done() {
    let rendered = text(
        "h.tstl",
        "@import sut\npool: <lines> 1\npool: <pen> 1\n<pen> := sut.Pen()\n<lines> := [1]\nassert len(<lines>) < 9\ndel <lines>[0]\nfor one in <lines>: <pen>.draw(one)\nif <lines>: <lines>.pop()\n<pen>.colour = 3\n<pen>.colour\n",
    );
    let titles: Vec<&str> = (rendered.lines())
        .filter_map(|line| line.strip_prefix("Action: "))
        .collect();
    assert_eq!(
        titles,
        [
            "make a pen",
            "set some lines",
            "check some lines",
            "set some lines (2)",
            "draw",
            "pop",
            "set a pen",
            "look at a pen"
        ]
    );
    assert!(
        rendered.contains("- The new lines are [1].\n"),
        "{rendered}"
    );
}

#[test]
fn l8_after_the_actions() {
    let rendered = text(
        "model.py",
        "t, n = [], 0\ndef act(): t.clear()\ndef StateInvariant(): return n > 0 and t\ndef StateFilter(): return n < 9\n\
         def Accepting(): return not t and n == 0\nstate = ('t', 'n')\nactions = (act,)\n",
    );
    expect![[r#"

        What must always be true:
          - The n is greater than 0.
          - The t is not empty.

        A run may end: only if the t is empty and the n is 0.

        Exploration is limited to situations in which the n is less than 9.
    "#]]
    .assert_eq(
        rendered
            .split_once("- The t becomes empty.\n")
            .expect("the action")
            .1,
    );
}

#[test]
fn l8_properties_of_harnesses() {
    let rendered = text(
        "h.tstl",
        "pool: <a> 1\npool: <b> 1\n<a> := 1\n<b> := 2\nproperty: <a> < <b> and f(<a>)\nproperty: True or 1\nreference: x ==> y\n",
    );
    assert!(
        rendered.contains("  - For every a and every b, the a is less than the b.\n"),
        "{rendered}"
    );
    assert!(
        rendered.contains("  - For every a, \"f\" holds for the a.\n"),
        "{rendered}"
    );
    assert!(
        rendered.contains("The reference:\n  - \"x\" corresponds to \"y\".\n"),
        "{rendered}"
    );
}

#[test]
fn l9_sections_are_separated_by_one_blank_line() {
    let rendered = text(
        "model.py",
        "n = 0\ndef a(): pass\ndef b(): pass\nstate = ('n',)\nactions = (a, b)\n",
    );
    assert!(
        !rendered.contains("\n\n\n") && rendered.ends_with('\n') && !rendered.ends_with("\n\n")
    );
    assert_eq!(rendered.matches("\n\n").count(), 3);
}

#[test]
fn state_and_inputs_are_listed() {
    let rendered = text(
        "model.py",
        "LIMIT = 3\na, b, c, d, e, f, paid = [], {}, set(), '', None, 2, False\n\
         def act(p, q, r, s, u, v): pass\nstate = ('a', 'b', 'c', 'd', 'e', 'f', 'paid')\nactions = (act,)\n\
         domains = {act: {'p': [1], 'q': [1, 2], 'r': range(1, LIMIT), 's': lambda: a, 'u': lambda: b}}\n\
         combinations = {act: 'cases'}\n",
    );
    expect![[r#"
        Model: model

        What is remembered:
          - the a: a list, empty at the start
          - the b: a dictionary, empty at the start
          - the c: a set, empty at the start
          - the d: a text, empty at the start
          - the e: has no value at the start
          - the f: starts as 2
          - the paid flag: starts as false

        Action: act
          Inputs:
            - p: always 1
            - q: either 1 or 2
            - r: a whole number from 1 to 2
            - s: any element of the a
            - u: any key of the b
            - v: any value
            The inputs are combined one by one, in order.
          When it can happen: at any time.
          What happens:
            - Nothing changes.
    "#]]
    .assert_eq(&rendered);
}

#[test]
fn r7_constants_made_of_what_there_is_at_the_start() {
    let rendered = text(
        "model.py",
        "rights = {'bob': 1, 'ann': 2}\nUSERS = list(rights)\nNAMES = sorted(rights)\nlevels = dict(low=1)\ndef act(u, n): rights[u] = n\nstate = ('rights', 'levels')\nactions = (act,)\ndomains = {act: {'u': USERS, 'n': NAMES}}\n",
    );
    for line in [
        "  - the levels: starts as {\"low\": 1}\n",
        "    - u: either \"bob\" or \"ann\"\n",
        "    - n: either \"ann\" or \"bob\"\n",
    ] {
        assert!(rendered.contains(line), "{line}: {rendered}");
    }
}

const MACHINE: &str = r#"'''Not this.'''
class NumberBag(RuleBasedStateMachine):
    '''A bag of numbers.

    More.'''
    bags = Bundle('bags')

    def __init__(self):
        super().__init__()
        self.model = set()

    @rule(n=st.integers(0, 9), bag=bags)
    def put(self, n, bag):
        '''Put a number.'''
        self.model.add(n)
        assert len(self.model) <= 10

    @precondition(lambda self: self.model)
    @rule(bag=consumes(bags))
    def empty(self, bag):
        self.model.clear()

    @invariant()
    def small(self):
        for n in self.model:
            assert n < 10
"#;

#[test]
fn machines_are_told() {
    let rendered = text("machines.py", MACHINE);
    expect![[r#"
        Model: number bag
          A bag of numbers.

        What is remembered:
          - the model: a set, empty at the start
          - the bags: values kept for later steps

        Action: put
          Put a number.
          Inputs:
            - n: any whole number from 0 to 9
            - bag: any of the bags
          When it can happen: only if the bags are not empty.
          What happens:
            - The given n is added to the model.
            - It is checked that the new model has at most 10 elements.

        Action: empty
          Inputs:
            - bag: any of the bags, which is then used up
          When it can happen: only if all of the following hold:
            - the bags are not empty
            - the model is not empty
          What happens:
            - The model becomes empty.

        What must always be true:
          - For every n in the model, n is less than 10.
    "#]]
    .assert_eq(&rendered);
}

#[test]
fn scenario_machines_are_told() {
    let rendered = text(
        "visit.py",
        "'''One visit.'''\nfrom shop import Enter, Buy, Leave\ninitial, accepting = 'out', ['out', 'in', 2]\n\
         graph = (('out', (Enter, (), None), 'in'), ('in', (Buy, ('apple', 2), 3), 'in'), ('in', (Leave, ()), 'out'))\n",
    );
    expect![[r#"
        Scenario machine: visit
          One visit.

        It starts in state "out".

        From state "out":
          - "enter" leads to state "in".

        From state "in":
          - "buy" with "apple" and 2, returning 3, leads back to the same state.
          - "leave" leads to state "out".

        A run may end: only in state "out", "in" or 2.
    "#]]
    .assert_eq(&rendered);
}

#[test]
fn observed_actions_say_so() {
    let rendered = text(
        "m.py",
        "n = 0\ndef act(): pass\nstate = ('n',)\nactions = (act,)\nobservables = (act,)\n",
    );
    assert!(
        rendered.contains("\nAction: act (observed, not chosen by the tester)\n"),
        "{rendered}"
    );
}

/// Branches that leave on some paths only, so that the number of paths doubles with each.
fn doubling(branches: usize) -> String {
    let mut model = "n = 0\ndef act(x):\n    global n\n".to_owned();
    for number in 0..branches {
        model += &format!(
            "    if x > {number}:\n        if x == {number}.5:\n            return {number}\n        n += {number}\n"
        );
    }
    model + "state = ('n',)\nactions = (act,)\n"
}

#[test]
fn limits_end_what_would_not_end() {
    let independent: String = (0..20)
        .map(|number| format!("    if x[{number}]:\n        if y[{number}]:\n            return {number}\n        n += 1\n"))
        .collect();
    let model = format!(
        "n = 0\ndef act(x, y):\n    global n\n{independent}state = ('n',)\nactions = (act,)\n"
    );
    let rendered = text("model.py", &model);
    assert!(
        rendered
            .contains("- Further outcomes are not listed, because the limit of 64 was reached.\n")
    );
    assert!(
        rendered.ends_with("\n\nNote: this explanation is incomplete. 1 action has more than 64 possible outcomes.\n"),
        "{}",
        &rendered[rendered.len().saturating_sub(300)..]
    );
    assert!(
        rendered.lines().count() < 2_000,
        "{} lines",
        rendered.lines().count()
    );
    let few = Limits {
        outcomes: 3,
        ..Limits::default()
    };
    let rendered = text_with("model.py", &doubling(4), "", few);
    assert!(
        rendered.contains("because the limit of 3 was reached."),
        "{rendered}"
    );
    assert!(!text("model.py", &doubling(2)).contains("Note:"));
}

#[test]
fn every_text_ends() {
    // Terms that double with every line, and helpers that call one another twice.
    let mut model = "n = 0\ndef f0(x): return x + x\n".to_owned();
    for number in 1..40 {
        model += &format!(
            "def f{number}(x): return f{0}(x) + f{0}(x + 1)\n",
            number - 1
        );
    }
    model += "def act(x):\n    global n\n    y = f39(x)\n";
    model += &"    y = y + y * y\n".repeat(60);
    model += "    n = y\n    return y\nstate = ('n',)\nactions = (act,)\n";
    let rendered = text("model.py", &model);
    assert!(rendered.len() < 1_000_000, "{}", rendered.len());
    // Intermediate values, each made of the one before.
    let mut model = "n = 0\ndef act(x):\n    global n\n".to_owned();
    for number in 0..100 {
        model += &format!("    y{number} = n + x\n    n += y{number}\n");
    }
    model += "    return y99\nstate = ('n',)\nactions = (act,)\n";
    let rendered = text("model.py", &model);
    assert!(rendered.len() < 100_000, "{}", rendered.len());
}

#[test]
fn unreadable_statements_are_quoted_and_counted() {
    let model = "n = 0\ndef act(x):\n    match x:\n        case Point(1, y): pass\nstate = ('n',)\nactions = (act,)\n";
    let rendered = explained("model.py", model);
    let text = render::text(&rendered.document.at_verbosity(1));
    assert!(
        text.contains(
            "- The Python statement \"match x: case Point(1, y): pass\" is carried out.\n"
        ),
        "{text}"
    );
    assert_eq!(rendered.phrased().by_fallback, 1);
}

#[test]
fn r3_flags_are_called_flags_whatever_their_names() {
    let rendered = text(
        "model.py",
        "is_open, paid = False, False\ndef act():\n    global is_open\n    is_open = not paid\nstate = ('is_open', 'paid')\nactions = (act,)\n",
    );
    assert!(
        rendered.contains(
            "  - the is open flag: starts as false\n  - the paid flag: starts as false\n"
        ),
        "{rendered}"
    );
    assert!(
        rendered.contains("- The is open flag becomes whether the paid flag is false.\n"),
        "{rendered}"
    );
}

#[test]
fn l5_values_that_a_rule_keeps_one_by_one() {
    let rendered = text(
        "machine.py",
        "from hypothesis.stateful import *\nfrom hypothesis.stateful import multiple\n\
         class Boxes(RuleBasedStateMachine):\n    boxes = Bundle('boxes')\n\
         \x20   @rule(target=boxes, n=st.integers())\n    def two(self, n):\n        return multiple(n, n + 1)\n\
         \x20   @rule(target=boxes)\n    def none(self):\n        return multiple()\n",
    );
    assert!(
        rendered.contains(
            "    - It returns the given n and one more than the given n.\n    - What it returns is kept among the boxes.\n"
        ) && !rendered.contains("multiple"),
        "{rendered}"
    );
}

#[test]
fn a_value_drawn_inside_a_rule_is_an_input() {
    let lend = |body: &str| {
        let rendered = text(
            "m.py",
            &format!(
                "class M(RuleBasedStateMachine):\n    def __init__(self):\n        self.stock = {{}}\n    \
                 @rule(data=st.data())\n    def lend(self, data):\n        {}\n",
                body.replace('\n', "\n        ")
            ),
        );
        let (_, rendered) = rendered.split_once("Action: lend\n").unwrap();
        rendered.to_owned()
    };
    let rendered = lend(
        "title = data.draw(st.sampled_from(sorted(self.stock)))\nn = data.draw(st.integers(0, 5), label='n')\nself.stock[title] = n",
    );
    let inputs = "  Inputs:\n    - title: any value among the stock in sorted order\n    - n: any whole number from 0 to 5\n";
    assert!(rendered.starts_with(inputs), "{rendered}");
    assert!(
        rendered.ends_with("- The entry for the given title in the stock becomes the given n.\n"),
        "{rendered}"
    );
    // Drawn values that depend on earlier draws or other events.
    for body in [
        "self.stock.clear()\nn = data.draw(st.sampled_from(self.stock))\nself.stock[n] = 1",
        "n = len(self.stock)\nm = data.draw(st.integers(0, n))\nself.stock[m] = n",
        "if self.stock:\n    n = data.draw(st.integers())\n    self.stock[n] = n",
    ] {
        let rendered = lend(body);
        assert!(
            rendered.starts_with("  Inputs:\n    - data: any value\n  When"),
            "{rendered}"
        );
    }
}

#[test]
fn an_initialize_rule_with_other_effects_happens_once() {
    let rendered = text(
        "m.py",
        "class M(RuleBasedStateMachine):\n    books = Bundle('books')\n    def __init__(self):\n        self.stock = {}\n    \
         @rule(book=books)\n    def sell(self, book):\n        self.stock[book] -= 1\n    \
         @initialize(target=books, title=st.text())\n    def open(self, title):\n        self.stock[title] = 3\n        return title\n",
    );
    assert!(
        rendered.contains(
            "Action: open\n  Inputs:\n    - title: any text\n  When it can happen: once, before anything else.\n  \
             What happens:\n    - The entry for the given title in the stock becomes 3.\n    - It returns the given title.\n    \
             - What it returns is kept among the books.\n\nAction: sell\n"
        ),
        "{rendered}"
    );
}

#[test]
fn an_initialize_rule_gives_start_values() {
    let rendered = text(
        "machine.py",
        "class M(RuleBasedStateMachine):\n    @initialize(size=st.integers(1, 5))\n    def start(self, size):\n        self.size = size\n        self.half = size // 2\n        self.used = 0\n    @rule()\n    def use(self):\n        self.used += 1\n",
    );
    assert!(rendered.contains("  - the size: starts as any whole number from 1 to 5\n  - the half: starts as the given size divided by 2 (rounded down)\n  - the used total: starts as 0\n"), "{rendered}");
}

#[test]
fn r4_and_p38_what_calls_of_the_system_give_has_methods_of_its_own() {
    let rendered = text(
        "h.tstl",
        "@import q\npool: <queue> 2\n<queue> := q.make()\n<queue> := <queue>.copy()\n<queue,1>.items() == [] -> <queue>.count(1)\n",
    );
    assert!(
        rendered.contains("- The new queue is the result of \"copy\" on the queue.\n"),
        "{rendered}"
    );
    assert!(
        rendered.contains("result of \"items\" on the queue is empty"),
        "{rendered}"
    );
    assert!(
        rendered.contains("- \"count\" is carried out on the queue with 1.\n"),
        "{rendered}"
    );
}

#[test]
fn w4_and_l7_pools_whose_names_are_plural() {
    let rendered = text(
        "h.tstl",
        "@import w\npool: <jugs> 1\npool: <int> 1\nproperty: 4 not in <jugs>.litres()\nproperty: <jugs>.is_clean()\ninit: random.seed(3)\n<jugs> := w.Jugs()\n<int> := <[1..2]>\n<jugs>.fill(<int>)\n",
    );
    for words in [
        "Action: make some jugs\n",
        "- New jugs are made.\n",
        "only if there are some jugs and an int.\n",
        "- For all jugs, 4 is not in the result of \"litres\" on the jugs.\n",
        "- For all jugs, the jugs are clean.\n",
        "- \"seed\" is carried out with 3.\n",
    ] {
        assert!(rendered.contains(words), "{words}: {rendered}");
    }
}

#[test]
fn cases_that_compare_are_choices() {
    assert_eq!(
        change("match x:\n    case 1: n = 1\n    case 2 | 3: n = 2\n    case y: n = y"),
        "If the given x is 1:\n  - The n becomes 1.\nOtherwise, if the given x is either 2 or 3:\n  - The n becomes 2.\nOtherwise:\n  - The n becomes the given x."
    );
}

#[test]
fn cases_that_look_into_something_ask_for_its_parts() {
    assert_eq!(
        change(
            "match x:\n    case ('add', y): t.append(y)\n    case [y, *z] if y > 1: t.extend(z)\n    case {'n': y}: n = y"
        ),
        "If the given x has 2 elements and the first element of the given x is \"add\":\n  \
         - The second element of the given x is added at the end of the t.\n\
         Otherwise, if the given x is not empty and the first element of the given x is greater than 1:\n  \
         - The elements of the given x without its first element are added at the end of the t.\n\
         Otherwise, if \"n\" is in the given x:\n  \
         - The n becomes the entry for \"n\" in the given x.\n\
         Otherwise:\n  - Nothing changes."
    );
    assert_eq!(
        change(
            "match n, x:\n    case 0, None: n = 1\n    case 1, int(y): n = y\n    case _, Point(size=3) | str(): n = 3"
        ),
        "If the n is 0 and the given x has no value:\n  - The n becomes 1.\n\
         Otherwise, if the n is 1 and the given x is a whole number:\n  - The n becomes the given x.\n\
         Otherwise, if either the given x is a point and the size of the given x is 3, or the given x is a text:\n  - The n becomes 3.\n\
         Otherwise:\n  - Nothing changes."
    );
    // The call happens once.
    assert_eq!(
        change("match ask(x):\n    case 1: n = 1\n    case 2: n = 2"),
        "- \"ask\" is carried out with the given x, giving the answer.\n\
         If the answer is 1:\n  - The n becomes 1.\n\
         Otherwise, if the answer is 2:\n  - The n becomes 2."
    );
}

#[test]
fn expressions_that_choose_what_is_done_are_choices() {
    let rendered =
        "If the given x is greater than 2:\n  - The given x is added at the end of the t.\n";
    assert_eq!(
        change("t.append(x) if x > 2 else s.add(x)"),
        format!("{rendered}Otherwise:\n  - The given x is added to the s.")
    );
    assert_eq!(
        change("x > 2 and t.append(x)"),
        format!("{rendered}Otherwise:\n  - Nothing changes.")
    );
    assert_eq!(
        change("x in s or s.add(x)"),
        "If the given x is not in the s:\n  - The given x is added to the s.\nOtherwise:\n  - Nothing changes."
    );
}

#[test]
fn level_0_is_brief_and_level_2_full() {
    let model = "'''Doc.'''\nn, m = 0, 0\ndef act(x):\n    global n\n    if x:\n        n = 1\n        return 5\n    return 6\n\
        state = ('n', 'm')\nactions = (act,)\ndomains = {act: {'x': [1, 2]}}\n";
    let document = explained("model.py", model).document;
    expect![[r#"
        Model: model
          Doc.

        Action: act
          When it can happen: at any time.
          What happens:
            If the given x is not zero:
              - The n becomes 1.
            Otherwise:
              - Nothing changes.
    "#]]
    .assert_eq(&render::text(&document.at_verbosity(0)));
    let full = render::text(&document.at_verbosity(2));
    for line in [
        "  Source: model.py, lines 3 to 8.\n",
        "    - kind of x: number\n",
        "      - The n becomes 1.\n      - It returns 5.\n      Unchanged: the m.\n",
        "      Unchanged: the n and the m.\n",
    ] {
        assert!(full.contains(line), "{line} is not in\n{full}");
    }
    let trace = render::text(&document.at_verbosity(3));
    assert!(
        trace.contains("    If the given x is not zero:\n        `if x:`\n      - The n becomes 1.\n          `n = 1`\n"),
        "{trace}"
    );
}

#[test]
fn level_3_shows_the_code_of_every_condition() {
    let model = "n = 0\ndef act(x):\n    global n\n    if x == 1:\n        n = 1\n    elif x == 2:\n        n = 2\n    if n > 5:\n        return 1\n    if n > 4:\n        n = 0\n        return 2\n\
        def may(x): return n < 9\ndef StateInvariant():\n    '''Never negative.'''\n    return n >= 0\ndef Accepting(): return n == 0\nstate = ('n',)\nactions = (act,)\nenablers = {act: (may, lambda: n != 7)}\n";
    let document = explained("model.py", model).document;
    expect![[r#"
        Model: model

        What is remembered:
          - the n: starts as 0

        Action: act
          Source: model.py, lines 2 to 12.
          Inputs:
            - x: any value
          When it can happen: only if all of the following hold:
              `return n < 9`
              `n != 7`
            - the n is less than 9
            - the n is not 7
          What happens:
            If the given x is 1:
                `if x == 1:`
              - The n becomes 1.
                  `n = 1`
            Otherwise, if the given x is 2:
                `elif x == 2:`
              - The n becomes 2.
                  `n = 2`
            If the new n is greater than 5:
                `if n > 5:`
              - Nothing else changes.
              - It returns 1.
                  `return 1`
            Otherwise, if the new n is greater than 4:
                `if n > 4:`
              - The n becomes 0.
                  `n = 0`
              - It returns 2.
                  `return 2`
            Otherwise:
              - Nothing else changes.

        What must always be true:
          - Never negative. In other words: the n is at least 0.
              `return n >= 0`

        A run may end: only if the n is 0.
            `return n == 0`
    "#]]
    .assert_eq(&render::text(&document.at_verbosity(3)));
}

#[test]
fn level_2_does_not_say_of_what_is_handed_over_that_it_is_unchanged() {
    let model = "o, p, t, n, s = None, None, [], 0, set()\ndef act(x):\n    o.go(x, t)\n    s.add(p)\n    return p.size()\nstate = ('o', 'p', 't', 'n', 's')\nactions = (act,)\n";
    let rendered = render::text(&explained("model.py", model).document.at_verbosity(2));
    assert!(
        rendered.contains("    Unchanged: the p and the n.\n"),
        "{rendered}"
    );
}

#[test]
fn each_level_is_the_next_one_with_lines_left_out() {
    let model = "n, m, t = 0, 0, []\ndef act(x):\n    global n\n    y = ask(x)\n    assert y\n    if x:\n        n = 1\n        return 5\n    for v in t:\n        n += v\n\
        state = ('n', 'm', 't')\nactions = (act,)\n";
    let document = explained("model.py", model).document;
    for level in 0..3 {
        let (less, more) = (
            render::text(&document.at_verbosity(level)),
            render::text(&document.at_verbosity(level + 1)),
        );
        let mut rest = more.lines();
        for line in less.lines() {
            assert!(
                rest.any(|other| other == line),
                "{line} of level {level} is not in\n{more}"
            );
        }
    }
}

#[test]
fn trap_9_and_10_numbers_and_nouns() {
    let rendered = text(
        "model.py",
        "users_logged_in, waiting, paid = [], False, 0\ndef act(): pass\n\
         def StateInvariant(): return users_logged_in and not waiting and paid > 3\n\
         state = ('users_logged_in', 'waiting', 'paid')\nactions = (act,)\n",
    );
    for sentence in [
        "- The users logged in are not empty.",
        "- The waiting flag is false.",
        "- The paid total is greater than 3.",
    ] {
        assert!(
            rendered.contains(sentence),
            "{sentence} is not in\n{rendered}"
        );
    }
}

#[test]
fn trap_11_docstrings_stay_as_they_are() {
    let rendered = text(
        "model.py",
        "n = 0\ndef act():\n    '''Given x == 1,\n    do `this`.\n\n    Not that.'''\nstate = ('n',)\nactions = (act,)\n",
    );
    assert!(
        rendered.contains("Action: act\n  Given x == 1, do `this`.\n  Inputs: none.\n"),
        "{rendered}"
    );
    assert!(!rendered.contains("Not that"));
}

#[test]
fn trap_14_nothing_depends_on_hash_order() {
    let model = "s = {'b', 'aa', 'c'}\ndef act(x): s.add(x)\nstate = ('s',)\nactions = {act}\ndomains = {act: {'x': {3, 10, 2}}}\n";
    let rendered = text("model.py", model);
    assert!(rendered.contains("- x: one of 2, 3 or 10\n"), "{rendered}");
    assert!(
        rendered.contains("starts as {\"b\", \"c\", \"aa\"}"),
        "{rendered}"
    );
}

#[test]
fn r10_in_a_rule_that_returns_after_a_change() {
    let rendered = happens(
        "n, m = 0, 0\ndef act(x):\n    global n\n    old = n\n    n = m\n    return old + n + m\nstate = ('n', 'm')\n",
    );
    assert_eq!(
        rendered,
        "- The n becomes the m.\n- It returns the old n plus the new n plus the m."
    );
}

#[test]
fn level_2_remarks_on_numbers_that_are_none() {
    let machine = |strategy: &str| {
        let text = format!(
            "class M(RuleBasedStateMachine):\n    @rule(x=st.{strategy})\n    def r(self, x): self.n = x\n"
        );
        render::text(&explained("m.py", &text).document.at_verbosity(2))
    };
    assert!(machine("floats()").contains("    - remark: not-a-number is neither less than"));
    assert!(!machine("floats(allow_nan=False)").contains("remark"));
    assert!(!machine("integers()").contains("remark"));
}

#[test]
fn r8_attributes_of_a_machine_are_what_it_remembers() {
    let machine = "class Pile(RuleBasedStateMachine):\n    def __init__(self):\n        self.items = []\n        self.sold = 0\n    @rule(x=st.integers())\n    def put(self, x):\n        self.items.append(x)\n        self.sold += len(self.items)\n";
    let rendered = text("pile.py", machine);
    assert_eq!(
        section(&rendered, "What is remembered:"),
        "What is remembered:\n  - the items: a list, empty at the start\n  - the sold total: starts as 0"
    );
    assert!(
        rendered.ends_with("    - The given x is added at the end of the items.\n    - The sold total goes up by the number of elements in the new items.\n"),
        "{rendered}"
    );
}

#[test]
fn r9_classes_that_make_something() {
    assert_eq!(
        change("o = shop.LineItem(x, i)"),
        "- The o becomes a new line item made from the given x and the given i."
    );
    assert_eq!(
        change("t.append(LineItem())"),
        "- A new line item is added at the end of the t."
    );
}

#[test]
fn i1_and_r7_patterns_may_use_the_names_of_constants() {
    let model = "ROOM, PRICES, t, n = 3, {'pear': 2}, [], 0\ndef act(x):\n    global n\n    n += PRICES[x]\n    t.append(x)\ndef may(x): return len(t) < ROOM\nstate = ('t', 'n')\nactions = (act,)\nenablers = {act: (may,)}\n";
    let idioms = "[idiom room]\nkind = condition\nmatch = len(t) < ROOM\nsay = there is room\n[idiom price]\nkind = value\nmatch = PRICES[$x]\nsay = the price of {x}\n[idiom limit]\nkind = value\nmatch = ROOM\nsay = the limit\n";
    let rendered = text_with("model.py", model, idioms, Limits::default());
    assert!(
        rendered.contains("When it can happen: only if there is room.\n"),
        "{rendered}"
    );
    assert!(
        rendered.contains("- The n goes up by the price of the given x.\n"),
        "{rendered}"
    );
}

#[test]
fn i5_the_first_idiom_that_matches_wins_outermost_first() {
    let model = "t = []\ndef act(x):\n    return len(t[x])\nstate = ('t',)\nactions = (act,)\n";
    let inner = "[idiom inner]\nkind = value\nmatch = t[$x]\nsay = shelf {x}\n";
    let outer = "[idiom outer]\nkind = value\nmatch = len(t[$x])\nsay = the room on {x}\n";
    let other = "[idiom other]\nkind = value\nmatch = len($x)\nsay = all of {x}\n";
    for idioms in [
        format!("{inner}{outer}{other}"),
        format!("{outer}{other}{inner}"),
    ] {
        let rendered = text_with("model.py", model, &idioms, Limits::default());
        assert!(
            rendered.contains("It returns the room on the given x."),
            "{rendered}"
        );
    }
}

#[test]
fn e14_and_e15_slots_of_a_harness_that_get_another_value() {
    let harness = "pool: <n> 3\npool: <s> 1\n<n> := 0\n<n> += 4\n<s> := ''\n<s> += <['a'..'z']>\n<n> = <n> * <n>\n<s> = <s> + <s>\n";
    let rendered = text("slots.tstl", harness);
    let what: Vec<&str> = (rendered.lines())
        .filter(|line| line.starts_with("    - The") || line.starts_with("    - A"))
        .collect();
    assert_eq!(
        what,
        [
            "    - The new n is 0.",
            "    - The n goes up by 4.",
            "    - The new s is \"\".",
            "    - A character from \"a\" to \"z\" is added at the end of the s.",
            "    - The n becomes the second n times the third n.",
            "    - The s becomes the s followed by the s.",
        ],
        "{rendered}"
    );
    // A pool of size one has a single value.
    assert!(!rendered.contains("second s"), "{rendered}");
}

#[test]
fn r10_keys_are_read_and_may_be_named() {
    let model = "t, d = [], {}\ndef act(i):\n    x = t.pop(i)\n    d[x['name']] += x['count']\nstate = ('t', 'd')\n";
    assert_eq!(
        happens(model),
        "- The element of the t at position the given i is removed.\n- The entry for the entry for \"name\" in the x in the d goes up by the entry for \"count\" in the x."
    );
}

#[test]
fn l8_every_value_that_a_property_speaks_of_is_named() {
    let harness = "<@\ndef total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n@>\npool: <q> 2\n<q> := make()\nproperty: total(<q>.readings()) >= 0\n";
    let rendered = text("sums.tstl", harness);
    assert!(
        rendered.ends_with(
            "  - For every q, the sum of the result of \"readings\" on the q is at least 0.\n"
        ),
        "{rendered}"
    );
}

#[test]
fn runs_of_a_suite_are_told_one_by_one() {
    let suite = "'''Runs that were found.'''\nfrom website import Login, Logout\ntestSuite = [\n    [(Login, ('ann', 'right'), 'welcome'), (Logout, ('ann',))],\n    [(Login, ('ann', 'wrong'), None)],\n]\n";
    expect![[r#"
        Test suite: visits
          Runs that were found.

        Run 1:
          - "login" with "ann" and "right" is carried out, returning "welcome".
          - "logout" with "ann" is carried out.

        Run 2:
          - "login" with "ann" and "wrong" is carried out.
    "#]]
    .assert_eq(&text("visits.py", suite));
    let module = PropertyModule::parse("test_visits.py", suite).expect("Python");
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let actor = Actor::Suite("visits".to_owned());
    let rendered = module.suite(&phraser, &actor).expect("a suite");
    expect![[r#"
        Feature: Visits
          Runs that were found.

          Scenario: Run 1 with 2 steps
            When I call "login" with "ann" and "right"
            Then the answer is "welcome"
            When I call "logout" with "ann"

          Scenario: Run 2 with 1 step
            When I call "login" with "ann" and "wrong"
    "#]]
    .assert_eq(&gherkin::write(&rendered.feature).expect("every parser reads it"));
}

#[test]
fn l8_invariants_with_a_precondition() {
    let machine = "class Shop(RuleBasedStateMachine):\n    def __init__(self):\n        self.orders = []\n        self.closed = False\n    @rule()\n    def close(self): self.closed = True\n    @invariant()\n    @precondition(lambda self: self.closed)\n    def nothing_left(self):\n        assert self.orders == []\n";
    let rendered = text("shop.py", machine);
    assert!(
        rendered.ends_with("  - If the closed flag is true then the orders are empty.\n"),
        "{rendered}"
    );
}

#[test]
fn l8_and_y11_what_invariants_of_machines_ask() {
    let machine = "class Shop(RuleBasedStateMachine):\n    def __init__(self):\n        self.shop = Shop()\n        self.orders = []\n    @rule()\n    def go(self): self.shop.go()\n\
         \x20   @invariant()\n    def a(self):\n        '''The shop looks after itself.'''\n        self.shop.check()\n\
         \x20   @invariant()\n    def audit(self):\n        self.shop.audit()\n\
         \x20   @invariant()\n    def b(self):\n        if self.orders:\n            assert self.shop.first() == self.orders[0]\n        else:\n            assert self.shop.is_empty()\n\
         \x20   @invariant()\n    def c(self):\n        if len(self.orders) > 3:\n            raise AssertionError\n\
         \x20   @invariant()\n    def d(self):\n        size = self.shop.size()\n        assert size >= 0 and size == len(self.orders)\n";
    expect![[r#"
        What must always be true:
          - The shop looks after itself.
          - "audit" does not fail.
          - If the orders are not empty then the result of "first" on the shop equals the first element of the orders, otherwise the shop is empty.
          - The orders have at most 3 elements.
          - The result of "size" on the shop is at least 0.
          - The result of "size" on the shop equals the number of elements in the orders."#]]
    .assert_eq(&section(&text("shop.py", machine), "What must always be true"));
}

#[test]
fn assumptions_and_notes_of_a_machine_are_listed() {
    let machine = "from hypothesis import assume, note, event\nclass M(RuleBasedStateMachine):\n    def __init__(self):\n        self.ages = {}\n        self.size = None\n    @initialize(size=st.integers(1, 5))\n    def start(self, size):\n        self.size = size\n\
         \x20   @rule(name=st.text())\n    def add(self, name):\n        assume(name not in self.ages and self.size > 2)\n        note('adding')\n        self.ages[name] = 1\n";
    let rendered = text("machine.py", machine);
    expect![[r#"
        Model: M

        What is remembered:
          - the ages: a dictionary, empty at the start
          - the size: starts as any whole number from 1 to 5

        Action: add
          Inputs:
            - name: any text
          When it can happen: at any time.
          What happens:
            - It goes on only if the ages have no entry for the given name.
            - It goes on only if the size is greater than 2.
            - An entry for the given name is added to the ages, with the value 1.
    "#]]
    .assert_eq(&rendered);
}

#[test]
fn assumptions_of_a_harness_are_listed() {
    let rendered = text(
        "h.tstl",
        "pool: <list> 2\n<list> := []\n~<list>.append(0)\nassume: len(<list>) < 20\n",
    );
    assert!(
        rendered.ends_with("A test goes on only as long as:\n  - For every list, the list has fewer than 20 elements.\n"),
        "{rendered}"
    );
}

#[test]
fn the_other_collections_of_python_are_lists_and_dictionaries() {
    let rendered = text(
        "post.py",
        "from collections import Counter, defaultdict, deque\nimport collections\n\nletters = deque(maxlen=9)\nboxes = defaultdict(set)\nseen = collections.Counter()\n\n\
         def send(letter):\n    letters.append(letter)\n    letters.appendleft(letter)\n\n\
         def sort(box):\n    boxes[box].add(letters.popleft())\n    seen[box] += 1\n\n\
         def close():\n    global letters\n    letters = deque()\n    return letters.popleft()\n\n\
         state = ('letters', 'boxes', 'seen')\nactions = (send, sort)\n",
    );
    expect![[r#"
        Model: post

        What is remembered:
          - the letters: a list, empty at the start
          - the boxes: a dictionary, empty at the start
          - the seen dictionary: a dictionary, empty at the start

        Action: send
          Inputs:
            - letter: any value
          When it can happen: at any time.
          What happens:
            - The given letter is added at the end of the letters.
            - The given letter is added at the start of the letters.

        Action: sort
          Inputs:
            - box: any value
          When it can happen: at any time.
          What happens:
            - The first element of the letters is removed.
            - The first element of the old letters is added to the entry for the given box in the boxes.
            - The entry for the given box in the seen dictionary goes up by 1.
    "#]]
    .assert_eq(&rendered);
}

#[test]
fn start_values_may_depend_on_other_state() {
    let machine = "class Store(RuleBasedStateMachine):\n    boxes = Bundle('boxes')\n\n    def __init__(self):\n        self.folder = make_folder()\n        self.base = Base(self.folder)\n\n    \
         @rule(box=boxes.filter(bool), other=consumes(boxes).filter(lambda b: len(b) > 2))\n    def move(self, box, other):\n        self.base.move(box, other)\n";
    let rendered = text("store.py", machine);
    expect![[r#"
        What is remembered:
          - the folder: starts as the result of "make folder"
          - the base: starts as a new base made from the folder
          - the boxes: values kept for later steps"#]]
    .assert_eq(&section(&rendered, "What is remembered"));
    expect![[r#"
        Action: move
          Inputs:
            - box: any of the boxes such that box is set
            - other: any of the boxes such that other has more than 2 elements, which is then used up
          When it can happen: only if the boxes are not empty.
          What happens:
            - "move" is carried out on the base with the given box and the given other."#]]
    .assert_eq(&section(&rendered, "Action: move"));
}
