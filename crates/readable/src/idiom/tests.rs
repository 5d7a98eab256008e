use super::*;
use crate::phrase::testing::term;
use crate::phrase::{Marking, PhraseRecorder};
use crate::term::{NameReference, NameRole, Operator, Type};

const REGISTRY: &str = "\
# Words of the registry.
[names]
pids     = known processes
pid      = process
dead     = stopped processes

[idiom name is taken]
kind  = condition
match = $n in regs
say   = {n} is taken
not   = {n} is free

[idiom process is stopped]
kind  = condition
match = $p in dead
say   = {p} has been stopped
not   = {p} has not been stopped

[idiom owner]
kind  = value
match = regs[$n]
say   = the process called {n}

[idiom give a name]
kind  = effect
match = regs[$n] = $p
say   = {p} is now called {n}

[idiom forget a name]
kind  = effect
match = del regs[$n]
say   = {n} becomes free
";

fn vocabulary(text: &str) -> Vocabulary {
    let mut vocabulary = Vocabulary::default();
    vocabulary
        .add(text)
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    vocabulary
}

fn cl(file: &str, text: &str) -> String {
    Phraser::new(&vocabulary(file)).clause(&term(text))
}

fn say(file: &str, text: &str, polarity: Polarity, tense: Tense) -> String {
    Phraser::new(&vocabulary(file)).clause_in(&term(text), polarity, tense)
}

fn np(file: &str, text: &str) -> String {
    Phraser::new(&vocabulary(file)).noun(&term(text)).text
}

fn errors(text: &str) -> Vec<(usize, usize, String)> {
    let errors = Vocabulary::default()
        .add(text)
        .expect_err("a file with errors");
    errors
        .into_iter()
        .map(|error| (error.line, error.column, error.message))
        .collect()
}

/// A file with one idiom.
fn idiom(kind: &str, pattern: &str, rest: &str) -> String {
    format!("[idiom test]\nkind = {kind}\nmatch = {pattern}\n{rest}")
}

#[test]
fn w3_names_replace_words_everywhere() {
    let names = "[names]\nx = the   thing\nbalance = money\nwhereis = look up\n";
    assert_eq!(np(names, "x.balance"), "the money of the thing");
    assert_eq!(
        np(names, "whereis(x)"),
        "the result of \"look up\" with the thing"
    );
    assert!(vocabulary(names).has_name("whereis"));
    assert!(!vocabulary(names).has_name("whereIs"));
}

#[test]
fn r3_names_are_nouns_already() {
    let file = vocabulary("[names]\npaid = amounts paid so far\n");
    let phraser = Phraser::new(&file);
    let paid = NameReference::new("paid", NameRole::State { version: 0 }).with_type(Type::Number);
    let noun = phraser.reference(&paid);
    assert_eq!(
        (noun.text.as_str(), noun.plural),
        ("the amounts paid so far", false)
    );
}

#[test]
fn conditions_values_and_their_order() {
    assert_eq!(cl(REGISTRY, "x in regs"), "x is taken");
    assert_eq!(
        cl(REGISTRY, "regs[x] not in dead"),
        "the process called x has not been stopped"
    );
    assert_eq!(
        cl(REGISTRY, "regs[x] == pid"),
        "the process called x equals the given process"
    );
    let registered = "x in regs or pid in regs.values() or pid in dead";
    assert_eq!(
        cl(REGISTRY, registered),
        "either x is taken, the given process is in the values of the regs or the given process has been stopped"
    );
    // I5: the first in a file, and the outermost expression.
    let two = format!(
        "{}{}",
        idiom("value", "$x.size", "say = the size of {x}\n"),
        "[idiom other]\nkind = value\nmatch = $y.size\nsay = never\n"
    );
    assert_eq!(np(&two, "x.size.size"), "the size of the size of x");
}

#[test]
fn files_added_first_are_consulted_first() {
    let mut vocabulary = vocabulary("[names]\nx = mine\n");
    vocabulary
        .add("[names]\nx = yours\ny = also yours\n")
        .expect("a file");
    assert_eq!(
        (vocabulary.words("x"), vocabulary.words("y")),
        ("mine".into(), "also yours".into())
    );
}

#[test]
fn i1_placeholders() {
    let twice = idiom("condition", "$x == $x.copy_of($_)", "say = {x} is a copy");
    assert_eq!(cl(&twice, "a == a.copy_of(b)"), "a is a copy");
    assert_eq!(
        cl(&twice, "a == b.copy_of(b)"),
        "a equals the result of \"copy of\" on b with b"
    );
    let rest = idiom(
        "value",
        "join($first, $*others)",
        "say = {first} joined with {others}",
    );
    assert_eq!(np(&rest, "join(a, b, c)"), "a joined with b and c");
    assert_eq!(np(&rest, "join(a)"), "a joined with nothing");
    let own = idiom("value", "self.count + $n", "say = the count and {n} more");
    assert_eq!(np(&own, "count + x"), "the count and x more");
    let keyword = idiom("value", "f($x, size=$s)", "say = {x} at size {s}");
    assert_eq!(np(&keyword, "f(a, size=3)"), "a at size 3");
    assert_eq!(
        np(&keyword, "f(a, length=3)"),
        "the result of \"f\" with a and length set to 3"
    );
    let module = idiom("value", "lib.area($x)", "say = the area of {x}");
    assert_eq!(np(&module, "lib.area(b)"), "the area of b");
    let object = idiom("value", "o.area($x)", "say = the area of {x}");
    assert_eq!(np(&object, "o.area(b)"), "the area of b");
    let comprehension = idiom(
        "value",
        "[$v for $v in $xs if $v > 0]",
        "say = the positive part of {xs}",
    );
    assert_eq!(
        np(&comprehension, "[i for i in xs if i > 0]"),
        "the positive part of xs"
    );
    let list = idiom("value", "pair([$a, $b])", "say = {a} next to {b}");
    assert_eq!(np(&list, "pair([1, 2])"), "1 next to 2");
}

#[test]
fn i2_forms() {
    let clause = idiom(
        "condition",
        "implies($a, $b)",
        "say = whenever {a:clause}, {b:clause}\nnot = {a:clause} although {b:not}",
    );
    assert_eq!(
        cl(&clause, "implies(x > 1, flag)"),
        "whenever x is greater than 1, flag is true"
    );
    assert_eq!(
        cl(&clause, "not implies(x > 1, flag)"),
        "x is greater than 1 although flag is false"
    );
    let name = idiom(
        "value",
        "call($f, $v)",
        "say = what {f:name} makes of {v:value}",
    );
    assert_eq!(
        np(&name, "call(popMin, 'x')"),
        "what pop min makes of \"x\""
    );
}

#[test]
fn i3_effects() {
    let registry = vocabulary(REGISTRY);
    let phraser = Phraser::new(&registry);
    let give = EffectTerm::Assign {
        target: term("regs[x]"),
        value: term("pid"),
    };
    let forget = EffectTerm::Delete(term("regs[x]"));
    let other = EffectTerm::Delete(term("d[x]"));
    assert_eq!(
        phraser.effect(&[give.clone(), forget.clone()]),
        Some((1, "the given process is now called x".into()))
    );
    assert_eq!(
        phraser.effect(&[forget]),
        Some((1, "x becomes free".into()))
    );
    assert_eq!(phraser.effect(&[other]), None);

    let several = vocabulary(
        "[idiom move]\nkind = effect\nmatch = $a -= $n\nmatch = $b += $n\nsay = {n} moves from {a} to {b}\n",
    );
    let phraser = Phraser::new(&several);
    let augment = |name: &str, operator, amount: &str| EffectTerm::Augment {
        target: term(name),
        operator,
        value: term(amount),
    };
    let down = augment("x", Operator::Subtract, "n");
    let up = EffectTerm::Assign {
        target: term("y"),
        value: term("y + n"),
    };
    assert_eq!(
        phraser.effect(&[down.clone(), up.clone(), give]),
        Some((2, "n moves from x to y".into()))
    );
    assert_eq!(phraser.effect(std::slice::from_ref(&down)), None);
    assert_eq!(
        phraser.effect(&[down, augment("y", Operator::Add, "3")]),
        None
    );
}

#[test]
fn i3_a_change_reads_the_old_value_of_what_it_sets() {
    let file =
        vocabulary("[idiom put]\nkind = effect\nmatch = $t = $t + [$e]\nsay = {e} is put on {t}\n");
    let state = |version| {
        Term::from(
            NameReference::new("plates", NameRole::State { version }).with_type(Type::list()),
        )
    };
    let value = Term::Binary {
        left: Box::new(state(0)),
        operator: Operator::Add,
        right: Box::new(Term::List(vec![term("x")])),
    };
    let change = EffectTerm::Assign {
        target: state(1),
        value,
    };
    assert_eq!(
        Phraser::new(&file).effect(&[change]),
        Some((1, "x is put on the plates".into()))
    );
}

#[test]
fn i4_negated_forms() {
    let file = idiom(
        "condition",
        "$x is None",
        "say = {x} is missing\nnot = {x} is there",
    );
    assert_eq!(cl(&file, "x is not None"), "x is there");
    assert_eq!(cl(&file, "not (x is not None)"), "x is missing");
    let negative = idiom(
        "condition",
        "$x != 0",
        "say = {x} counts\nnot = {x} does not count",
    );
    assert_eq!(cl(&negative, "x == 0"), "x does not count");
    assert_eq!(cl(&negative, "not x == 0"), "x counts");
    let bare = idiom("condition", "$t.contains($k)", "say = {t} contains {k}");
    assert_eq!(
        cl(&bare, "not tree.contains(k)"),
        "it is not the case that the tree contains k"
    );
    assert_eq!(np(&bare, "tree.contains(k)"), "whether the tree contains k");
}

#[test]
fn past_forms() {
    use Polarity::{Negative, Positive};
    let given = idiom(
        "condition",
        "$t.contains($k)",
        "say = {t} contains {k}\nnot = {t} does not contain {k}\npast = {t} once contained {k}\npast-not = {t} never contained {k}",
    );
    let default = idiom(
        "condition",
        "$t.contains($k)",
        "say = {t} contains {k}\nnot = {t} does not contain {k}",
    );
    let call = "tree.contains(k)";
    assert_eq!(
        say(&given, call, Positive, Tense::Past),
        "the tree once contained k"
    );
    assert_eq!(
        say(&given, call, Negative, Tense::Past),
        "the tree never contained k"
    );
    assert_eq!(
        say(&default, call, Positive, Tense::Past),
        "the tree contained k"
    );
    assert_eq!(
        say(&default, call, Negative, Tense::Past),
        "the tree did not contain k"
    );
    assert_eq!(
        cl(&default, "pre(tree.contains(k))"),
        "the tree contained k before the step"
    );
    let unknown_verb = idiom("condition", "$t.contains($k)", "say = {t} knows {k}");
    assert_eq!(
        say(&unknown_verb, call, Positive, Tense::Past),
        "the tree knows k"
    );
}

#[test]
fn w5_verbs_of_idioms_agree_with_their_subject() {
    let file = idiom(
        "condition",
        "$x in u",
        "say = {x} is taken\nnot = {x} is free",
    );
    assert_eq!(cl(&file, "names in u"), "the given names are taken");
    assert_eq!(
        cl(&file, "pre(names not in u)"),
        "the given names were free before the step"
    );
}

#[test]
fn requirements() {
    let file = |requirement: &str| {
        idiom(
            "value",
            "f($x)",
            &format!("say = the f of {{x}}\nwhere = $x is {requirement}"),
        )
    };
    for (requirement, accepted, refused) in [
        ("argument", "pid", "plates"),
        ("state", "plates", "pid"),
        ("literal", "'a'", "x"),
        ("number", "n", "s"),
        ("text", "s", "n"),
        ("collection", "xs", "s"),
    ] {
        let noun = |argument: &str| np(&file(requirement), &format!("f({argument})"));
        assert!(noun(accepted).starts_with("the f of "), "{requirement}");
        assert!(noun(refused).starts_with("the result of "), "{requirement}");
    }
}

#[test]
fn call_idioms_replace_the_call_of_a_step() {
    let file = vocabulary(&idiom("call", "$t.insert($k)", "say = insert {k} into {t}"));
    let phraser = Phraser::new(&file);
    assert_eq!(
        phraser.call_idiom(&term("tree.insert(5)")).as_deref(),
        Some("insert 5 into the tree")
    );
    assert_eq!(phraser.call_idiom(&term("tree.remove(5)")), None);
}

#[test]
fn r10_marks_reach_into_idioms() {
    let changed = std::collections::BTreeSet::from(["regs".to_owned()]);
    let file = vocabulary(&idiom("value", "count($d)", "say = the size of {d}"));
    let phraser = Phraser::new(&file).with_marking(Marking::Outcome(&changed));
    assert_eq!(
        phraser.noun(&term("count(regs)")).text,
        "the size of the old regs"
    );
}

#[test]
fn i6_stubs_can_be_read_and_change_nothing() {
    let plain = Vocabulary::default();
    let recorder = PhraseRecorder::default();
    let phraser = Phraser::new(&plain).with_recorder(&recorder);
    let expressions = [
        "f(x, size=3)",
        "tree.listing()",
        "tree.listing() + g(f(y, size=1))",
        "x @ y",
    ];
    let nouns: Vec<String> = expressions
        .iter()
        .map(|text| phraser.noun(&term(text)).text)
        .collect();
    let clauses: Vec<String> = ["ready()", "tree.contains(k)"]
        .iter()
        .map(|text| phraser.negative(&term(text)))
        .collect();
    let stubs = write_stubs(&recorder.counts());
    expect_test::expect![[r#"
        # 2 times
        [idiom f]
        kind  = value
        match = f($a, size=$b)
        say   = the result of "f" with {a} and size set to {b}

        # 2 times
        [idiom listing]
        kind  = value
        match = $o.listing()
        say   = the result of "listing" on {o}

        # once
        [idiom g]
        kind  = value
        match = g($a)
        say   = the result of "g" with {a}

        # once
        [idiom x @ y]
        kind  = value
        match = x @ y
        say   = what this is

        # once
        [idiom ready]
        kind  = condition
        match = ready()
        say   = "ready" holds
        not   = "ready" does not hold

        # once
        [idiom contains]
        kind  = condition
        match = $o.contains($a)
        say   = "contains" holds for {o} with {a}
        not   = "contains" does not hold for {o} with {a}
    "#]]
    .assert_eq(&stubs);
    let filled = vocabulary(&stubs);
    let again = Phraser::new(&filled);
    assert_eq!(again.noun(&term("tree.listing()")).text, nouns[1]);
    assert_eq!(again.negative(&term("tree.contains(k)")), clauses[1]);
}

#[test]
fn q7_what_is_counted() {
    let plain = Vocabulary::default();
    let recorder = PhraseRecorder::default();
    let phraser = Phraser::new(&plain).with_recorder(&recorder);
    let _ = phraser.clause(&term("len(xs) > n and tree.contains(k)"));
    let tally = recorder.counts();
    // The conjunction, the comparison, the length, and the call.
    assert_eq!((tally.phrased, tally.fallbacks.len()), (4, 1));
}

#[test]
fn i7_files_are_rejected_with_their_lines() {
    let bad = "\
x = outside
[names]
2x = two
y =
z = one
z = two
[nonsense]
a = b
[idiom]
[idiom first]
kind = conditon
match = $x
say = {x}
[idiom second]
kind = value
match = $x.f($
say = {y} is here
colour = red
[idiom third]
kind = value
match = $x.f()
say = {y} is {x:verb}
not = never
[idiom fourth]
kind = condition
match = f($x)
match = g($x)
say = {x
where = $x is nice
[idiom fifth]
kind = effect
match = if x: pass
match = $x
say = {x} happens
neither
";
    let found: Vec<(usize, usize)> = errors(bad)
        .into_iter()
        .map(|(line, column, _)| (line, column))
        .collect();
    assert_eq!(
        found,
        [
            (1, 1),
            (3, 1),
            (4, 4),
            (6, 1),
            (7, 1),
            (9, 1),
            (11, 8),
            (16, 9),
            (17, 7),
            (18, 1),
            (22, 7),
            (23, 1),
            (27, 9),
            (28, 7),
            (29, 9),
            (32, 9),
            (33, 9),
            (34, 7),
            (35, 1)
        ],
        "{:#?}",
        errors(bad)
    );
    assert_eq!(errors("[idiom x]\nkind = value\n").len(), 2);
    let (line, column, message) =
        errors("[idiom a]\nkind = value\nmatch = f($x)\nsay = {y}").remove(0);
    assert_eq!(
        (line, column, message.as_str()),
        (4, 7, "no `match` line has a placeholder `$y`")
    );
    let alone = errors("[idiom a]\nkind = value\nmatch = $x\nsay = {x}").remove(0);
    assert_eq!(
        alone.2,
        "this pattern cannot be used: a placeholder alone would match everything"
    );
}

#[test]
fn r10_the_target_of_an_effect_is_not_marked() {
    let changed = std::collections::BTreeSet::from(["plates".to_owned()]);
    let file = vocabulary(&idiom("effect", "$t.append($e)", "say = {e} is put on {t}"));
    let phraser = Phraser::new(&file).with_marking(Marking::Outcome(&changed));
    let change = EffectTerm::Call(term("plates.append(len(plates))"));
    let said = "the number of elements in the old plates is put on the plates";
    assert_eq!(phraser.effect(&[change]), Some((1, said.into())));
}

/// The built-in file must say what the rules say without it.
#[test]
fn the_built_in_file_says_what_is_said_without_it() {
    let (plain, file) = (Vocabulary::default(), vocabulary(BUILT_IN));
    let (plain, told) = (Phraser::new(&plain), Phraser::new(&file));
    let mut count = 0;
    for idiom in &file.idioms {
        let [IdiomPattern::Expression(pattern)] = idiom.patterns.as_slice() else {
            continue;
        };
        for names in [
            ["x", "y", "k"],
            ["xs", "ys", "xs"],
            ["plates", "names", "pid"],
            ["s", "t", "t"],
            ["n", "n", "k"],
        ] {
            let mut known = Vec::new();
            let instance = pattern.map_parts(&mut |term| {
                let placeholder = pattern::placeholder(term)?.to_owned();
                let index = known
                    .iter()
                    .position(|name| *name == placeholder)
                    .unwrap_or_else(|| {
                        known.push(placeholder);
                        known.len() - 1
                    });
                Some(crate::phrase::testing::term(names[index]))
            });
            count += 1;
            if idiom.kind == IdiomKind::Value {
                assert_eq!(told.noun(&instance).text, plain.noun(&instance).text);
                continue;
            }
            for polarity in [Polarity::Positive, Polarity::Negative] {
                for tense in [Tense::Present, Tense::Past] {
                    assert_eq!(
                        told.clause_in(&instance, polarity, tense),
                        plain.clause_in(&instance, polarity, tense)
                    );
                }
            }
        }
    }
    assert!(count > 40, "{count}");
}
