//! One test for each rule of features (F), and for the traps that concern them.

use super::*;
use crate::gherkin;
use crate::idiom::Vocabulary;
use crate::sample::{Decision, SampleArgument, SampleCase};
use crate::value::PythonValue;

const HEAD: &str =
    "from hypothesis import assume, given, strategies as st\nimport pytest\nimport shop\n";

/// The feature of a module whose every property gets the same values.
fn render(text: &str, arguments: &[(&str, &str)]) -> String {
    tell_as(
        text,
        arguments,
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
    )
}

fn tell_as(
    text: &str,
    arguments: &[(&str, &str)],
    values: ValuePlacement,
    layout: ExampleLayout,
) -> String {
    let module = PropertyModule::parse("test_things.py", text).expect("Python");
    let properties = module.properties();
    let case = case(arguments);
    let sampled: Vec<SampledProperty<'_>> = properties
        .iter()
        .map(|property| SampledProperty::new(property, vec![case.clone()]))
        .collect();
    let vocabulary = Vocabulary::default();
    let rendered = module.render_feature(&sampled, values, layout, &Phraser::new(&vocabulary));
    gherkin::write(&rendered.feature).expect("every parser reads it")
}

fn case(arguments: &[(&str, &str)]) -> SampleCase {
    let arguments = arguments.iter().map(|(name, source)| {
        let value = PythonValue::from_python(source).expect("a value");
        SampleArgument::new(name, value)
    });
    SampleCase::of(arguments.collect())
}

/// The steps of a property with this body, the `Given`s of its inputs left out.
fn steps(parameters: &str, body: &str) -> Vec<String> {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("{HEAD}def prop_it({parameters}):\n{body}");
    let names = parameters
        .split(", ")
        .map(|parameter| parameter.split(':').next().unwrap_or_default());
    let arguments: Vec<(&str, &str)> = names.map(|name| (name, "5")).collect();
    let feature = render(&text, &arguments);
    let lines = feature
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("Scenario:"))
        .skip(1);
    lines
        .skip(arguments.len())
        .map(|line| line.trim().to_owned())
        .collect()
}

fn line(text: &str, beginning: &str) -> String {
    let found = text
        .lines()
        .find(|line| line.trim_start().starts_with(beginning));
    found
        .unwrap_or_else(|| panic!("no {beginning} in\n{text}"))
        .trim()
        .to_owned()
}

#[test]
fn f1_the_feature_is_named_after_the_module() {
    let property = "def prop_a(n): assert n\n";
    let name = |file: &str| {
        let module = PropertyModule::parse(file, property).expect("Python");
        let vocabulary = Vocabulary::default();
        module.feature_head(&Phraser::new(&vocabulary)).name
    };
    assert_eq!(name("a/test_bank_account.py"), "Bank account");
    assert_eq!(name("lists_test.py"), "Lists");
    assert_eq!(name("AVLTree.py"), "AVL tree");
    assert_eq!(name("test_.py"), "Test");
    let text = render(
        &format!("\"\"\"Rules of\n  things.\n\nMore.\n\"\"\"\n{property}"),
        &[("n", "1")],
    );
    assert_eq!(
        text.lines().take(3).collect::<Vec<_>>(),
        ["@property", "Feature: Things", "  - Rules of things."]
    );
}

#[test]
fn f2_the_rule_is_named_after_the_docstring() {
    let text = render("def prop_two_words(n):\n    assert n\n", &[("n", "1")]);
    assert_eq!(line(&text, "Rule:"), "Rule: Two words");
    let text = render(
        "def prop_a(n):\n    \"\"\"It\n    holds.\n\n    Not this.\"\"\"\n    assert n\n",
        &[("n", "1")],
    );
    assert_eq!(line(&text, "Rule:"), "Rule: It holds.");
    let long = format!("It holds. {}", "And more of it, on and on. ".repeat(5));
    let text = render(
        &format!("def prop_a(n):\n    \"\"\"{long}\"\"\"\n    assert n\n"),
        &[("n", "1")],
    );
    assert_eq!(line(&text, "Rule:"), "Rule: It holds.");
    assert!(
        text.contains("    - And more of it, on and on. And more"),
        "{text}"
    );
}

#[test]
fn f3_what_it_must_hold_for() {
    let head = HEAD;
    let text = render(
        &format!(
            "{head}@given(n=st.integers(0, 9), s=st.text())\ndef test_a(s, n):\n    assume(n > 1)\n    assume(s)\n    assert s\n"
        ),
        &[("s", "'a'"), ("n", "5")],
    );
    assert_eq!(
        line(&text, "This must"),
        "This must hold for any text s and any whole number n from 0 to 9, provided that n is greater than 1 and s is not empty."
    );
    let text = render("def prop_a(n: int):\n    assert n\n", &[("n", "1")]);
    assert_eq!(
        line(&text, "This must"),
        "This must hold for any whole number n."
    );
    assert!(!render("def prop_a():\n    assert 1 < 2\n", &[]).contains("This must"));
}

#[test]
fn f4_one_tag_on_the_feature_and_none_elsewhere() {
    let text = render("def prop_a(n):\n    assert n\n", &[("n", "1")]);
    assert!(text.starts_with("@property\nFeature:"));
    assert_eq!(text.matches('@').count(), 1);
}

#[test]
fn f5_and_trap_1_names_of_scenarios_are_unique_in_a_file() {
    let text = render(
        &format!(
            "{HEAD}def prop_it_works(n):\n    assert n\n@given(st.integers())\ndef test_it_works(n):\n    assert n\n\
                  class TestStack:\n    @given(st.integers())\n    def test_push(self, n):\n        assert n\n"
        ),
        &[("n", "1")],
    );
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Scenario: "))
        .collect();
    assert_eq!(
        names,
        [
            "It works - example 1",
            "It works (2) - example 1",
            "Test stack push - example 1"
        ]
    );
}

#[test]
fn f6_inputs_are_had_in_order() {
    let text = render(
        "def prop_a(old_list, n):\n    assert n\n",
        &[("n", "1"), ("old_list", "[]")],
    );
    assert_eq!(
        line(&text, "Given"),
        "Given I have the empty list, called old list"
    );
    assert_eq!(line(&text, "And"), "And I have the number 1, called n");
}

#[test]
fn f7_assumptions_and_objects() {
    assert_eq!(
        steps(
            "n",
            "assume(n > 1)\nbox = shop.Box(n)\nbox.add(n)\nother = shop.Box(2)\nassert box.size == n"
        ),
        [
            "And n is greater than 1",
            "And I have a new box made from n, called box",
            "When I call \"add\" on box with n",
            "And I make a new box made from 2, called other",
            "Then the size of box equals n",
        ]
    );
}

#[test]
fn f7_calls_with_and_without_an_answer() {
    assert_eq!(
        steps(
            "n, m",
            "x = shop.price(n, m)\nlog(x)\na, b = shop.split(x)\nassert a == b"
        ),
        [
            "When I call \"price\" with n and m, giving x",
            "And I call \"log\" with x",
            "And I call \"split\" with x, giving a and b",
            "Then a equals b",
        ]
    );
}

#[test]
fn f7_errors_that_are_expected() {
    assert_eq!(
        steps(
            "n",
            "with pytest.raises(ValueError):\n    shop.price(n)\nassert n == 1"
        ),
        [
            "When I try to call \"price\" with n",
            "Then it fails with the error \"value error\"",
            "And n is 1"
        ]
    );
    assert_eq!(
        steps(
            "n",
            "with pytest.raises((KeyError, shop.NoSuchThing)):\n    shop.price(n)"
        )[1],
        "Then it fails with the error \"key error\" or \"no such thing\""
    );
}

#[test]
fn f7_an_error_can_have_a_name() {
    assert_eq!(
        steps(
            "n",
            "with pytest.raises(KeyError) as caught:\n    shop.price(n)\nassert 'x' in str(caught.value)"
        ),
        [
            "When I try to call \"price\" with n",
            "Then it fails with the error \"key error\"",
            "And the value of caught as text contains \"x\"",
        ]
    );
}

#[test]
fn f8_an_answer_is_asked_for_again_after_something_was_done() {
    assert_eq!(
        steps(
            "n",
            "box = shop.Box()\nassert box.count() == 0\nbox.add(n)\nassert box.count() == 1"
        ),
        [
            "And I have a new box, called box",
            "When I call \"count\" on box",
            "Then the result is 0",
            "When I call \"add\" on box with n",
            "Then the result of \"count\" on box is 1",
        ]
    );
}

#[test]
fn f7_locals_are_written_out() {
    assert_eq!(
        steps("n", "m = n + 2\nk = m * 3\nassert k > m"),
        ["Then (n plus 2) times 3 is greater than n plus 2"]
    );
    assert_eq!(
        steps("n", "m = n\nm += 4\nassert m == 1"),
        ["Then n plus 4 is 1"]
    );
    // A local that is changed later must be stored.
    assert_eq!(
        steps("n", "xs = []\nxs.append(n)\nassert xs == shop.one(n)"),
        [
            "And I have the empty list, called xs",
            "When I call \"append\" on xs with n",
            "And I call \"one\" with n",
            "Then xs equals the result",
        ]
    );
}

#[test]
fn f7_what_was_looked_at_before_a_change_speaks_of_the_earlier_value() {
    assert_eq!(
        steps(
            "n",
            "box = shop.Box(n)\nbefore = box.size\nbox.add(n)\nassert box.size == before + 1"
        )[2],
        "Then the size of box is one more than before"
    );
    // A function with a result is not expected to change its arguments.
    assert_eq!(
        steps(
            "xs",
            "wanted = sorted(xs)\nfound = shop.sort(xs)\nassert found == wanted"
        )[1],
        "Then found equals xs in sorted order"
    );
}

#[test]
fn f7_one_check_for_each_conjunct_of_assertions_and_results() {
    assert_eq!(
        steps(
            "n, m",
            "assert n > 1 and (m > 2 and n < m), 'why'\nreturn n != m and m"
        ),
        [
            "Then n is greater than 1",
            "And m is greater than 2",
            "And n is less than m",
            "And n does not equal m",
            "And m is set",
        ]
    );
}

#[test]
fn f7_loops() {
    assert_eq!(
        steps(
            "xs: list[int]",
            "for x in xs:\n    assert x > 0\n    if x > 5:\n        assert x % 2 == 0"
        ),
        [
            "Then for every x in xs, x is greater than 0",
            "And for every x in xs such that x is greater than 5, x is even"
        ]
    );
    assert_eq!(
        steps("xs", "for x in shop.sort(xs):\n    assert x in xs"),
        [
            "When I call \"sort\" with xs",
            "Then for every x in the result, x is in xs"
        ]
    );
    assert_eq!(
        steps(
            "xs",
            "box = shop.Box()\nfor x in xs:\n    box.add(x)\nassert box.full()"
        )[1],
        "When for every x in xs, I call \"add\" on box with x"
    );
}

#[test]
fn f7_and_p31_what_a_loop_gathers_is_written_out() {
    assert_eq!(
        steps(
            "xs: list[int], n: int",
            "evens = []\ntotal = 0\nfor x in xs:\n    if x % 2 == 0:\n        evens.append(x)\nfor x in evens:\n    total += x * n\nassert shop.total(xs, n) == total\nassert len(evens) <= len(xs)"
        ),
        [
            "When I call \"total\" with xs and n",
            "Then the result equals the sum of x times n for each x in the elements x of xs such that x is even",
            "And the number of elements x of xs such that x is even is at most the number of elements in xs",
        ]
    );
    // The system is called once.
    assert_eq!(
        steps(
            "xs: list[int]",
            "prices = {}\nfor x in xs:\n    prices[x] = shop.price(x)\nassert len(prices) <= len(xs)"
        ),
        [
            "And I have a dictionary in which x is the result of \"price\" with x for each x in xs, called prices",
            "Then the number of entries in prices is at most the number of elements in xs",
        ]
    );
    // A loop that reads its own result, or whose result is changed later, stays a loop.
    for body in [
        "seen = []\nfor x in xs:\n    if x not in seen:\n        seen.append(x)\nassert seen == xs",
        "seen = []\nfor x in xs:\n    seen.append(x)\nseen.append(1)\nassert seen == xs",
    ] {
        let rendered = steps("xs: list[int]", body).join("\n");
        assert!(
            rendered.contains("for x in xs") || rendered.contains("for every x in xs"),
            "{rendered}"
        );
    }
}

#[test]
fn f7_only_the_branch_that_the_sample_takes() {
    let body = "if n > 3:\n    assert n > 2\nelse:\n    assert n < 4";
    assert_eq!(
        steps("n", body),
        ["And n is greater than 3", "Then n is greater than 2"]
    );
    let text = "import shop\ndef prop_a(n):\n    if shop.open(n):\n        return n > 1\n    assert n == 0\n";
    let module = PropertyModule::parse("test_things.py", text).expect("Python");
    let property = module.property("prop_a").expect("a property");
    let mut case = case(&[("n", "0")]);
    case.decisions = vec![Decision {
        line: 3,
        column: 7,
        holds: false,
    }];
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let rendered = module.render_feature(
        &[SampledProperty::new(&property, vec![case])],
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
        &phraser,
    );
    let texts: Vec<&str> = rendered.feature.rules[0].scenarios[0]
        .steps
        .iter()
        .map(|step| step.text.as_str())
        .collect();
    assert_eq!(
        texts,
        [
            "I have the number 0, called n",
            "\"open\" does not hold for n",
            "n is 0"
        ]
    );
}

#[test]
fn f7_anything_else_is_a_leak() {
    assert_eq!(
        steps("n", "while n:\n    n.pop()\nassert n")[0],
        "Then the Python statement \"while n: n.pop()\" is carried out"
    );
}

#[test]
fn f8_one_call_is_the_result_and_several_are_numbered() {
    assert_eq!(
        steps("n", "assert shop.half(n) < n\nassert shop.half(n) > 0"),
        [
            "When I call \"half\" with n",
            "Then the result is less than n",
            "And the result is greater than 0"
        ]
    );
    assert_eq!(
        steps("n", "assert shop.double(shop.half(n)) == n"),
        [
            "When I call \"half\" with n, giving result 1",
            "And I call \"double\" with result 1, giving result 2",
            "Then result 2 equals n",
        ]
    );
}

#[test]
fn f8_and_trap_4_what_may_not_be_evaluated_stays_where_it_is() {
    assert_eq!(
        steps("n", "assert n == 0 or shop.half(n) < n"),
        ["Then either n is 0 or the result of \"half\" with n is less than n"]
    );
    assert_eq!(
        steps("n", "assert shop.even(n)"),
        ["Then \"even\" holds for n"]
    );
    // Only the first check is hoisted: later ones keep their calls.
    assert_eq!(
        steps("n", "assert n > 1\nassert shop.half(n) < n"),
        [
            "Then n is greater than 1",
            "And the result of \"half\" with n is less than n"
        ]
    );
    let many = "assert [f(1), f(2), f(3), f(4), f(5), f(6), f(7)] == n";
    assert_eq!(steps("n", many).len(), 1);
}

#[test]
fn f8_can_be_undone() {
    let text = "def prop_a(n):\n    assert half(n) < n\n";
    let module = PropertyModule::parse("test_things.py", text).expect("Python");
    let property = module.property("prop_a").expect("a property");
    let vocabulary = Vocabulary::default();
    let mut sampled = SampledProperty::new(&property, vec![case(&[("n", "1")])]);
    sampled.hoists = false;
    sampled.verified = vec![false];
    let rendered = module.render_feature(
        &[sampled],
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
        &Phraser::new(&vocabulary),
    );
    let text = gherkin::write(&rendered.feature).expect("every parser reads it");
    assert!(
        text.contains("    # not verified\n    Scenario: A - example 1\n"),
        "{text}"
    );
    assert_eq!(
        line(&text, "Then"),
        "Then the result of \"half\" with n is less than n"
    );
}

#[test]
fn forms_inline_writes_values_for_names_and_for_nothing_else() {
    let text = tell_as(
        "def prop_a(n, xs):\n    ys = drop(n, xs)\n    assert all(n > 0 for n in ys) and n not in ys\n",
        &[("n", "7"), ("xs", "[7, 'a b']")],
        ValuePlacement::Inline,
        ExampleLayout::Scenarios,
    );
    let steps: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("Scenario"))
        .skip(1)
        .map(str::trim)
        .collect();
    assert_eq!(
        steps,
        [
            "Given I have the number 7",
            "And I have the list [7, \"a b\"]",
            "When I call \"drop\" with 7 and [7, \"a b\"], giving ys",
            "Then for every n in ys, n is greater than 0",
            "And 7 is not in ys",
        ]
    );
}

#[test]
fn forms_an_outline_needs_one_kind_and_plain_cells() {
    let text = "def prop_a(s):\n    assert s\n";
    let module = PropertyModule::parse("test_things.py", text).expect("Python");
    let property = module.property("prop_a").expect("a property");
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let is_outline = |values: &[&str], layout| {
        let cases = values.iter().map(|value| case(&[("s", value)])).collect();
        let rendered = module.render_feature(
            &[SampledProperty::new(&property, cases)],
            ValuePlacement::Named,
            layout,
            &phraser,
        );
        gherkin::write(&rendered.feature)
            .expect("every parser reads it")
            .contains("Outline")
    };
    assert!(is_outline(&["'a'", "''"], ExampleLayout::Outline));
    assert!(!is_outline(&["'a'", "''"], ExampleLayout::Auto));
    assert!(is_outline(&["'a'", "''", "'b|c'"], ExampleLayout::Auto));
    assert!(!is_outline(&["'a'", "1"], ExampleLayout::Outline));
    assert!(!is_outline(&["'a'", "'b\\nc'"], ExampleLayout::Outline));
    assert!(!is_outline(&["'a'", "'<s>'"], ExampleLayout::Outline));
    assert!(!is_outline(&["None"], ExampleLayout::Outline));
}

#[test]
fn trap_11_docstrings_stay_as_they_are() {
    let text = render(
        "def prop_a(n):\n    \"\"\"Given `x >= 1`, `f(x)` ends.\"\"\"\n    assert n\n",
        &[("n", "1")],
    );
    assert_eq!(line(&text, "Rule:"), "Rule: Given `x >= 1`, `f(x)` ends.");
}

#[test]
fn unittest_checks_read_like_assertions() {
    let text = format!(
        "{HEAD}class TestBox:\n    @given(st.integers())\n    def test_half(self, n):\n        \
         self.assertLess(shop.half(n), n)\n        self.assertTrue(n > 0 and n < 9)\n"
    );
    let text = render(&text, &[("n", "4")]);
    let steps: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.contains("Scenario"))
        .skip(2)
        .map(str::trim)
        .collect();
    assert_eq!(
        steps,
        [
            "When I call \"half\" with n",
            "Then the result is less than n",
            "And n is greater than 0",
            "And n is less than 9",
        ]
    );
}

#[test]
fn almost_python_never_panics() {
    for body in [
        "pass",
        "return",
        "x",
        "yield n",
        "(n := 3)",
        "[*n]",
        "lambda: n",
        "async def f(): pass",
        "del n",
        "n: int",
    ] {
        let _ = steps("n", &format!("{body}\nassert n"));
    }
}

#[test]
fn f7_names_for_the_elements_of_what_has_a_name() {
    assert_eq!(
        steps("pair: tuple", "n, flag = pair\nassert n > 0 or flag"),
        [
            "Then either the first element of pair is greater than 0 or the second element of pair is set"
        ]
    );
}

#[test]
fn f7_what_asks_the_system_is_asked_once() {
    let body =
        "stack = shop.Stack()\ntop = stack.pop() if n else None\nassert top is None or top == n";
    assert_eq!(
        steps("n: int", body),
        [
            "And I have a new stack, called stack",
            "And I have (the result of \"pop\" on stack if n is not zero, otherwise nothing), called top",
            "Then either top has no value or top equals n",
        ]
    );
    // A local that is used once may be written out.
    assert_eq!(
        steps("n: int", "m = shop.next(n) + 1\nassert m > n"),
        [
            "When I call \"next\" with n",
            "Then one more than the result is greater than n"
        ]
    );
}

#[test]
fn f7_statements_that_only_python_can_say_keep_earlier_values() {
    let body = "before = dict(d)\nd[1] = 2\nassert len(d) >= len(before)";
    assert_eq!(
        steps("d: dict", body),
        [
            "Then the Python statement \"d[1] = 2\" is carried out",
            "And the number of entries in d is at least the number of entries in d before the step",
        ]
    );
}

#[test]
fn f7_defaults_are_written_out() {
    assert_eq!(
        steps("n: int", "assert n < 3").len() + 1,
        render(
            &format!("{HEAD}def prop_it(n: int, most: int = 3):\n    assert n < most\n"),
            &[("n", "5")]
        )
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("Scenario:"))
        .skip(1)
        .inspect(|line| assert!(!line.contains("most"), "{line}"))
        .count()
    );
}

#[test]
fn f7_statements_of_several_parts_know_their_names() {
    let body = "try:\n    shop.buy(n)\nexcept KeyError:\n    found = n\nelse:\n    found = 0\nassert found == n";
    let text = format!(
        "{HEAD}def prop_it(n):\n{}",
        body.lines()
            .map(|line| format!("    {line}\n"))
            .collect::<String>()
    );
    let module = PropertyModule::parse("test_things.py", &text).expect("Python");
    let properties = module.properties();
    let sampled = [SampledProperty::new(
        &properties[0],
        vec![case(&[("n", "5")])],
    )];
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let rendered = module.render_feature(
        &sampled,
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
        &phraser,
    );
    let is_leak = |one: &&StepDefinition| one.code.body.contains(&"try:".to_owned());
    let leak = rendered
        .definitions
        .iter()
        .find(is_leak)
        .expect("it is told");
    let code = leak.code.body.join("\n");
    assert!(code.contains("n = v[\"n\"]"), "{code}");
    assert!(code.contains("v[\"found\"] = found"), "{code}");
}

#[test]
fn f7_names_for_the_elements_of_what_is_written_out() {
    assert_eq!(
        steps(
            "n: int, m: int",
            "low, high = sorted([n, m])\nassert low <= high"
        ),
        [
            "Then the first element of a list with n and m in sorted order is at most \
             the second element of a list with n and m in sorted order"
        ]
    );
    // A set has no first element.
    assert_eq!(
        steps("n: int", "a, b = {n, 1}\nassert a + b == n + 1")[0],
        "Then the Python statement \"a, b = {n, 1}\" is carried out"
    );
}

#[test]
fn f7_and_p38_the_object_of_a_call_ends_somewhere() {
    assert_eq!(
        steps(
            "n: int",
            "till = shop.open().add(n).add(1)\nassert till.total == n"
        ),
        [
            "When I call \"add\" on (the result of \"add\" on the result of \"open\" with n) with 1, giving till",
            "Then the total of till equals n",
        ]
    );
}

#[test]
fn c41_what_is_always_so_is_not_told_beside_other_checks() {
    assert_eq!(
        steps("n: int", "assert 1 < 2 and n > 0"),
        ["Then n is greater than 0"]
    );
    assert_eq!(
        steps("n: int", "assert 1 < 2 and True"),
        ["Then this is always so"]
    );
}

#[test]
fn c28_a_kind_that_a_step_has_found_out() {
    let body = "xs, ys = shop.split(n)\nassert isinstance(n, type(ys))";
    let rendered = steps("n", body);
    assert_eq!(
        rendered.last().map(String::as_str),
        Some("Then n is a value of that kind"),
        "{rendered:#?}"
    );
}
