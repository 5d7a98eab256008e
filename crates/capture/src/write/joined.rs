//! Tests that differ in nothing but values, as one test with a table.
//!
//! Only what stays readable is joined: one call, one expectation, values that fit on a line and need nothing but Python's own
//! names. Values that the program's own classes have to make stay in the body of a test, where a broken constructor is a failed
//! test and not a file that cannot be imported.

use testwright_source::names;

use super::apart;
use super::code::Code;
use super::construct::{Bare, given};
use super::name;
use super::plan::{Actual, Check, Exercise, How, Plan, Setup};
use super::scope::{Scope, is_builtin};
use super::style::{self, Table};
use super::{Completeness, Writer, Written};
use crate::digest::digest;
use crate::recording::{Call, Outcome, Receiver, Unit};
use crate::suite::{Import, Section, UnitTest};
use crate::value::Value;

/// Two tests are read as quickly as a table of two.
pub(crate) const FEWEST: usize = 3;

/// How far in a row of a table stands, in a class and in a list in a call.
const INDENT: usize = 12;

/// What tests must have in common to become one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Likeness(String);

/// A value in a test that may be another one in the next.
struct Slot<'p> {
    /// What it may be called.
    hint: String,
    code: &'p Code,
}

impl Writer<'_> {
    /// What the test of a call has in common with others like it, if it is one that can be joined.
    pub(crate) fn likeness(&self, call: &Call, written: &Written) -> Option<Likeness> {
        let unit = self.recording.unit(call.unit)?;
        let plan = written.plan.as_ref()?;
        if written.completeness != Completeness::Full {
            return None;
        }
        let slots = slots(plan, call, unit)?;
        let row = Code::tuple(slots.iter().map(|slot| slot.code.clone()).collect());
        let is_plain = |slot: &Slot<'_>| is_plain(slot.code, &written.test.imports);
        if !row.fits(INDENT + 1) || !slots.iter().all(is_plain) {
            return None;
        }
        let text = format!("{}\n{}", unit.name(), skeleton(plan)?);
        Some(Likeness(text))
    }

    /// One test for calls whose tests are alike; nothing if there is nothing in which they differ.
    pub(crate) fn joined(&self, alike: &Likeness, tests: &[(&Call, &Written)]) -> Option<Written> {
        let (first, pattern) = tests.first()?;
        let unit = self.recording.unit(first.unit)?;
        let plan = pattern.plan.as_ref()?;
        let rows: Vec<Vec<Slot<'_>>> = tests
            .iter()
            .map(|(call, written)| slots(written.plan.as_ref()?, call, unit))
            .collect::<Option<_>>()?;
        let columns = rows.first()?.len();
        let value =
            |row: &Vec<Slot<'_>>, column: usize| row.get(column).map(|slot| slot.code.flat());
        let differs = |column: &usize| {
            let first = rows.first().and_then(|row| value(row, *column));
            rows.iter().any(|row| value(row, *column) != first)
        };
        let varying: Vec<usize> = (0..columns).filter(differs).collect();
        // What varies in nothing is the same call; what varies in nothing but its result is a mystery.
        if varying.iter().all(|column| *column + 1 == columns) {
            return None;
        }
        let mut taken: Vec<String> = pattern
            .test
            .imports
            .iter()
            .map(|import| import.bound().to_owned())
            .collect();
        taken.extend(targets(plan));
        let mut holes: Vec<(usize, String)> = Vec::new();
        for column in varying {
            let hint = &rows.first()?.get(column)?.hint;
            holes.push((column, free(hint, &mut taken)));
        }
        let table = Table {
            names: holes.iter().map(|(_, name)| name.clone()).collect(),
            rows: rows
                .iter()
                .map(|row| row_code(row, &holes))
                .collect::<Option<_>>()?,
        };
        let plan = with_holes(plan, &holes)?;
        let name = joined_name(unit, tests, &holes, columns);
        // What all of its calls have in common.
        let mut other_names = apart::names(&name, (&name, "and"), unit, first);
        for (call, _) in tests {
            let also = apart::names(&name, (&name, "and"), unit, call);
            other_names.retain(|one| also.contains(one));
        }
        let mut scope = Scope::new(self.aliases(first));
        let lines = style::table_lines(self.style, &name, &plan, &table, &mut scope);
        let mut imports: Vec<Import> = tests
            .iter()
            .flat_map(|(_, written)| written.test.imports.clone())
            .chain(scope.imports())
            .collect();
        imports.sort();
        imports.dedup();
        Some(Written {
            class: pattern.class.clone(),
            test: UnitTest {
                id: digest(alike.0.as_bytes()),
                name,
                lines,
                imports,
            },
            other_names,
            completeness: Completeness::Full,
            plan: None,
        })
    }
}

/// The values of a test, in the order in which they stand; the last is what is expected.
fn slots<'p>(plan: &'p Plan, call: &Call, unit: &Unit) -> Option<Vec<Slot<'p>>> {
    if plan.output.is_some() || !plan.logged.is_empty() {
        return None;
    }
    let mut slots = Vec::new();
    for step in &plan.setup {
        let Setup::Assign { target, code } = step else {
            return None;
        };
        let items = call_items(code)?;
        let bare = items.iter().filter(|item| keyword(item).is_none()).count();
        // Of several values without a name nobody could say which is which.
        if bare > 1 {
            return None;
        }
        slots.extend(items.iter().map(|item| match keyword(item) {
            Some((name, code)) => Slot {
                hint: name.to_owned(),
                code,
            },
            None => Slot {
                hint: format!("{target}_value"),
                code: item,
            },
        }));
    }
    let (code, expected, hint) = match &plan.exercise {
        Exercise::Value(code) => (code, expected(plan)?, "expected"),
        Exercise::Raises { call, .. } => (call, raised(plan)?, "message"),
        _ => return None,
    };
    let skipped = match call.receiver {
        Receiver::None => 0,
        Receiver::Instance(_) | Receiver::Class(_) => 1,
    };
    let items = call_items(code)?;
    let arguments = given(call, unit, skipped, Bare::ByName).ok()?;
    if arguments.len() != items.len() {
        return None;
    }
    for (item, argument) in items.iter().zip(arguments) {
        let hint = argument.parameter.trim_matches('_').to_owned();
        slots.push(match keyword(item) {
            Some((name, code)) => Slot {
                hint: name.to_owned(),
                code,
            },
            None => Slot { hint, code: item },
        });
    }
    let hint = hint.to_owned();
    slots.push(Slot {
        hint,
        code: expected,
    });
    Some(slots)
}

/// What the only check of a result expects.
fn expected(plan: &Plan) -> Option<&Code> {
    match plan.checks.as_slice() {
        [
            Check {
                actual: Actual::Result,
                how: How::Equal | How::Is,
                expected,
            },
        ] => Some(expected),
        _ => None,
    }
}

/// The message of an exception whose only argument it is.
fn raised(plan: &Plan) -> Option<&Code> {
    let [
        Check {
            actual: Actual::Caught(name),
            how: How::Equal,
            expected: Code::Group {
                items, is_tuple, ..
            },
        },
    ] = plan.checks.as_slice()
    else {
        return None;
    };
    match items.as_slice() {
        [only] if name == "args" && *is_tuple => Some(only),
        _ => None,
    }
}

fn call_items(code: &Code) -> Option<&[Code]> {
    match code {
        Code::Group {
            open,
            items,
            close,
            is_tuple: false,
        } if close == ")" && open.len() > 1 => Some(items),
        _ => None,
    }
}

fn keyword(code: &Code) -> Option<(&str, &Code)> {
    match code {
        Code::Pair {
            left,
            between: "=",
            right,
        } => match left.as_ref() {
            Code::Text(name) => Some((name, right)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value can be made before any test runs: by Python's own names alone.
fn is_plain(code: &Code, imports: &[Import]) -> bool {
    let is_standard = |name: &String| {
        let mut bound = imports.iter().filter(|import| import.bound() == name);
        bound.all(|import| import.section == Section::Standard)
            && imports.iter().any(|import| import.bound() == name)
    };
    let Ok(found) = names(&format!("_ = {}", code.flat())) else {
        return false;
    };
    let reads = found.reads.iter();
    reads
        .into_iter()
        .all(|name| is_builtin(name) || is_standard(name))
}

/// A plan without its values.
fn skeleton(plan: &Plan) -> Option<String> {
    let mut text = String::new();
    let shape = |code: &Code| {
        let Code::Group { open, items, .. } = code else {
            return None;
        };
        let keywords = items
            .iter()
            .map(|item| keyword(item).map_or("", |(name, _)| name));
        Some(format!("{open}{})", keywords.collect::<Vec<_>>().join(",")))
    };
    for step in &plan.setup {
        if let Setup::Assign { target, code } = step {
            text.push_str(&format!("{target} = {}\n", shape(code)?));
        }
    }
    let end = match &plan.exercise {
        Exercise::Value(call) => {
            let how = plan.checks.first().map(|check| check.how);
            format!("{} {how:?}", shape(call)?)
        }
        Exercise::Raises { call, class } => format!("{} raises {}", shape(call)?, class.flat()),
        _ => return None,
    };
    Some(text + &end)
}

fn targets(plan: &Plan) -> impl Iterator<Item = String> {
    plan.setup.iter().filter_map(|step| match step {
        Setup::Assign { target, .. } => Some(target.clone()),
        _ => None,
    })
}

/// A name for a column that means nothing else in the test.
fn free(hint: &str, taken: &mut Vec<String>) -> String {
    let mut scope = Scope::new(std::collections::BTreeMap::new());
    let mut name = scope.variable(hint);
    // pytest has plans of its own with that one.
    while taken.contains(&name) || name == "request" {
        name = scope.variable(&format!("{hint}_value"));
        if taken.contains(&name) {
            name.push_str("_2");
        }
    }
    taken.push(name.clone());
    name
}

fn row_code(row: &[Slot<'_>], holes: &[(usize, String)]) -> Option<Code> {
    let codes = holes
        .iter()
        .map(|(column, _)| Some(row.get(*column)?.code.clone()));
    let mut codes: Vec<Code> = codes.collect::<Option<_>>()?;
    match codes.len() {
        1 => codes.pop(),
        _ => Some(Code::tuple(codes)),
    }
}

/// The plan with names in the place of what varies.
fn with_holes(plan: &Plan, holes: &[(usize, String)]) -> Option<Plan> {
    let mut plan = plan.clone();
    let mut column = 0;
    let mut fill = |code: &mut Code| {
        let hole = holes.iter().find(|(known, _)| *known == column);
        if let Some((_, name)) = hole {
            match code {
                Code::Pair {
                    between: "=",
                    right,
                    ..
                } => **right = Code::text(name),
                _ => *code = Code::text(name),
            }
        }
        column += 1;
    };
    for step in &mut plan.setup {
        if let Setup::Assign {
            code: Code::Group { items, .. },
            ..
        } = step
        {
            items.iter_mut().for_each(&mut fill);
        }
    }
    match &mut plan.exercise {
        Exercise::Value(Code::Group { items, .. })
        | Exercise::Raises {
            call: Code::Group { items, .. },
            ..
        } => items.iter_mut().for_each(&mut fill),
        _ => return None,
    }
    let is_raised = matches!(plan.exercise, Exercise::Raises { .. });
    let check = plan.checks.first_mut()?;
    match &mut check.expected {
        Code::Group { items, .. } if is_raised => items.iter_mut().for_each(&mut fill),
        whole => fill(whole),
    }
    Some(plan)
}

/// What a test of many calls is called: what comes of each, and in what they differ.
fn joined_name(
    unit: &Unit,
    tests: &[(&Call, &Written)],
    holes: &[(usize, String)],
    columns: usize,
) -> String {
    let mut words = vec!["test".to_owned()];
    if unit.qualified_name.contains('.') {
        let method = super::snake_case(name::last(unit));
        words.push(method.trim_matches('_').to_owned());
    }
    words.push(what_comes(tests, holes, columns));
    let varying: Vec<&str> = holes
        .iter()
        .filter(|(column, _)| column + 1 < columns)
        .map(|(_, name)| name.as_str())
        .collect();
    let start = words.join("_");
    let short = format!("{start}_for_each_{}", varying.join("_and_"));
    if varying.len() <= 2 && short.len() <= name::LONGEST {
        short
    } else {
        name::shortened(&format!("{start}_for_each_case"))
    }
}

fn what_comes(tests: &[(&Call, &Written)], holes: &[(usize, String)], columns: usize) -> String {
    let mut kinds: Vec<Option<String>> = tests
        .iter()
        .map(|(call, _)| match &call.outcome {
            Outcome::Returned(node) => {
                let is_same = !holes.iter().any(|(column, _)| column + 1 == columns);
                let value = name::value_word(&call.values, *node).filter(|_| is_same);
                let word = value.or_else(|| name::type_word(call.values.value(*node)));
                word.map(|word| format!("returns_{word}"))
            }
            Outcome::Raised { exception, .. } => match call.values.value(*exception) {
                Value::Exception(found) => {
                    Some(format!("raises_{}", super::snake_case(found.class.name())))
                }
                _ => None,
            },
            Outcome::Unfinished => None,
        })
        .collect();
    kinds.sort();
    kinds.dedup();
    match kinds.as_slice() {
        [Some(only)] => only.clone(),
        _ => "result".to_owned(),
    }
}
