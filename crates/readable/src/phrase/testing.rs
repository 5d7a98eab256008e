//! Helpers for the tests of this folder, which try the rules on expressions.

use testwright_source::tree;

use super::{Phraser, Polarity, Tense};
use crate::idiom::Vocabulary;
use crate::term::{CallTarget, CallTerm, NameReference, NameRole, NameScope, Term, Type};
use crate::value::PythonValue;

/// The names of tests and their meaning: xs and ys are lists, s and t texts, d is a dictionary, u
/// and v are sets, n is a number, flag is a truth value, tree is a pool value, plates and regs are
/// state variables, pid and names are inputs. All other names are variables of unknown type.
/// `pre(e)` is an earlier value, `lib` a module.
struct TestScope;

impl NameScope for TestScope {
    fn resolve_name(&self, name: &str) -> Option<Term> {
        let (role, type_) = match name {
            "xs" | "ys" => (NameRole::Variable, Type::list()),
            "s" | "t" => (NameRole::Variable, Type::Text),
            "d" => (NameRole::Variable, Type::dictionary()),
            "u" | "v" => (NameRole::Variable, Type::set()),
            "n" => (NameRole::Variable, Type::Number),
            "flag" => (NameRole::Variable, Type::Boolean),
            "tree" => (NameRole::Pool { number: 1 }, Type::Object("Tree".into())),
            "tree2" => {
                let second = NameReference::new("tree", NameRole::Pool { number: 2 });
                return Some(second.with_type(Type::Object("Tree".into())).into());
            }
            "plates" => (NameRole::State { version: 0 }, Type::list()),
            "regs" => (NameRole::State { version: 0 }, Type::dictionary()),
            "pid" | "names" => (NameRole::Input, Type::Unknown),
            "NAMES" => {
                return Some(
                    PythonValue::List(vec![PythonValue::text("a"), PythonValue::text("b")]).into(),
                );
            }
            "a" | "b" | "c" | "x" | "y" | "z" | "i" | "k" | "e" | "o" | "p" | "q" => {
                (NameRole::Variable, Type::Unknown)
            }
            _ => return None,
        };
        Some(NameReference::new(name, role).with_type(type_).into())
    }

    fn resolve_call(&self, call: &CallTerm) -> Option<Term> {
        match (&call.callee, call.arguments.as_slice()) {
            (CallTarget::Function { module: None, name }, [inner]) if name == "pre" => {
                Some(Term::Earlier(Box::new(inner.clone())))
            }
            _ => None,
        }
    }

    fn is_module(&self, name: &str) -> bool {
        name == "lib"
    }
}

/// Builds the term of an expression.
pub(crate) fn term(text: &str) -> Term {
    let expression = tree::expression(text).unwrap_or_else(|_| panic!("{text} is no expression"));
    Term::from_expression(&expression, text, &TestScope)
}

/// Returns the noun phrase of an expression, with "(plural)" after it if it is plural.
pub(crate) fn np(text: &str) -> String {
    let vocabulary = Vocabulary::default();
    let noun = Phraser::new(&vocabulary).noun(&term(text));
    if noun.plural {
        format!("{} (plural)", noun.text)
    } else {
        noun.text
    }
}

/// Returns the clause of an expression in any form.
fn clause_of(text: &str, polarity: Polarity, tense: Tense) -> String {
    let vocabulary = Vocabulary::default();
    Phraser::new(&vocabulary).clause_in(&term(text), polarity, tense)
}

/// Returns the clause of an expression.
pub(crate) fn cl(text: &str) -> String {
    clause_of(text, Polarity::Positive, Tense::Present)
}

/// Returns its negative form.
pub(crate) fn not(text: &str) -> String {
    clause_of(text, Polarity::Negative, Tense::Present)
}

/// Returns the clause in the past.
pub(crate) fn was(text: &str) -> String {
    clause_of(text, Polarity::Positive, Tense::Past)
}

/// Returns the negative form in the past.
pub(crate) fn was_not(text: &str) -> String {
    clause_of(text, Polarity::Negative, Tense::Past)
}

/// Returns the clause after "if".
pub(crate) fn condition(text: &str) -> String {
    let vocabulary = Vocabulary::default();
    Phraser::new(&vocabulary).after_if().clause(&term(text))
}

/// Checks the examples of noun phrases and clauses on the page of rules.
#[test]
fn examples_on_the_page_of_rules() {
    let page = include_str!("../../../../docs/readable-rules.md");
    let mut rule = "";
    let mut checked = 0;
    let mut wrong = Vec::new();
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            rule = heading;
        }
        let Some(example) = line.strip_prefix("Example: ") else {
            continue;
        };
        let is_noun = rule.starts_with('P');
        if !is_noun && !rule.starts_with('C') {
            continue;
        }
        for part in example.split("; `") {
            let part = part.strip_prefix('`').unwrap_or(part);
            let Some((code, phrase)) = part.split_once("` → ") else {
                continue;
            };
            let (phrase, negative) = match phrase.split_once("; negative: ") {
                Some((phrase, negative)) => (phrase, Some(negative)),
                None => (phrase, None),
            };
            let code = code.trim_start_matches("if ").trim_end_matches(':');
            let code = code.replace("pre<(", "pre(").replace(")>", ")");
            let found = if is_noun {
                np(&code).trim_end_matches(" (plural)").to_owned()
            } else {
                cl(&code)
            };
            checked += 1;
            if found != phrase {
                wrong.push(format!("{rule}: {code}: {found}"));
            }
            if let Some(negative) = negative
                && not(&code) != negative
            {
                wrong.push(format!("{rule}: not {code}: {}", not(&code)));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(checked > 70, "only {checked} examples were found");
}
