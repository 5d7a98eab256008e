//! Tests that differ only in values, as one test with a table of values.
//!
//! Only readable cases are joined: one call, one assertion, and values that fit on a line and need
//! nothing but the standard library. Values of the program's own classes stay in the body of a
//! test, where a broken constructor fails one test instead of the import of the file.

use testwright_source::names;

use super::code::PythonCode;
use super::construct::{BareArguments, call_arguments};
use super::distinct_names;
use super::name;
use super::plan::{ActualValue, Assertion, ComparisonKind, Exercise, SetupStep, TestPlan};
use super::scope::{ImportScope, is_builtin};
use super::style::{self, ValueTable};
use super::{Completeness, TestWriter, WrittenTest};
use crate::digest::digest;
use crate::recording::{Call, CallOutcome, CodeUnit, Receiver};
use crate::suite::{ImportSection, TestImport, UnitTest};
use crate::value::Value;

/// The minimum number of rows; two tests are read as quickly as a table of two.
pub(crate) const MIN_ROWS: usize = 3;

/// The indentation of a row: in a class, in a list, in a call.
const INDENT: usize = 12;

/// The text of a test without its values. Tests with equal skeletons can share a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TestSkeleton(String);

/// A value in a test that may vary from row to row.
struct ValueSlot<'p> {
    /// A name for its column.
    hint: String,
    /// The expression.
    code: &'p PythonCode,
}

impl TestWriter<'_> {
    /// Returns the skeleton of a call's test, if it can be part of a table.
    pub(crate) fn skeleton(&self, call: &Call, written: &WrittenTest) -> Option<TestSkeleton> {
        let unit = self.recording.unit(call.unit)?;
        let plan = written.plan.as_ref()?;
        if written.completeness != Completeness::Full {
            return None;
        }
        let slots = value_slots(plan, call, unit)?;
        let row = PythonCode::tuple(slots.iter().map(|slot| slot.code.clone()).collect());
        let is_plain = |slot: &ValueSlot<'_>| is_standard_value(slot.code, &written.test.imports);
        if !row.fits(INDENT + 1) || !slots.iter().all(is_plain) {
            return None;
        }
        let text = format!("{}\n{}", unit.name(), plan_skeleton(plan)?);
        Some(TestSkeleton(text))
    }

    /// Writes one test for calls with the same skeleton. Returns `None` if only the results differ.
    pub(crate) fn table_test(
        &self,
        skeleton: &TestSkeleton,
        tests: &[(&Call, &WrittenTest)],
    ) -> Option<WrittenTest> {
        let (first, pattern) = tests.first()?;
        let unit = self.recording.unit(first.unit)?;
        let plan = pattern.plan.as_ref()?;
        let rows: Vec<Vec<ValueSlot<'_>>> = tests
            .iter()
            .map(|(call, written)| value_slots(written.plan.as_ref()?, call, unit))
            .collect::<Option<_>>()?;
        let columns = rows.first()?.len();
        let value = |row: &Vec<ValueSlot<'_>>, column: usize| {
            row.get(column).map(|slot| slot.code.one_line())
        };
        let differs = |column: &usize| {
            let first = rows.first().and_then(|row| value(row, *column));
            rows.iter().any(|row| value(row, *column) != first)
        };
        let varying: Vec<usize> = (0..columns).filter(differs).collect();
        // Without varying arguments, the calls are the same, or their results are unexplained.
        if varying.iter().all(|column| *column + 1 == columns) {
            return None;
        }
        let mut taken: Vec<String> = pattern
            .test
            .imports
            .iter()
            .map(|import| import.bound_name().to_owned())
            .collect();
        taken.extend(assigned_variables(plan));
        let mut placeholders: Vec<(usize, String)> = Vec::new();
        for column in varying {
            let hint = &rows.first()?.get(column)?.hint;
            placeholders.push((column, free_name(hint, &mut taken)));
        }
        let table = ValueTable {
            names: placeholders.iter().map(|(_, name)| name.clone()).collect(),
            rows: rows
                .iter()
                .map(|row| row_code(row, &placeholders))
                .collect::<Option<_>>()?,
        };
        let plan = with_placeholders(plan, &placeholders)?;
        let name = table_name(unit, tests, &placeholders, columns);
        // Only alternatives that all calls share.
        let mut other_names = distinct_names::alternative_names(&name, (&name, "and"), unit, first);
        for (call, _) in tests {
            let also = distinct_names::alternative_names(&name, (&name, "and"), unit, call);
            other_names.retain(|one| also.contains(one));
        }
        let mut scope = ImportScope::new(self.aliases(first));
        let lines = style::render_table_test(self.style, &name, &plan, &table, &mut scope);
        let mut imports: Vec<TestImport> = tests
            .iter()
            .flat_map(|(_, written)| written.test.imports.clone())
            .chain(scope.imports())
            .collect();
        imports.sort();
        imports.dedup();
        Some(WrittenTest {
            class: pattern.class.clone(),
            test: UnitTest {
                id: digest(skeleton.0.as_bytes()),
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

/// Returns the values of a test in the order of its text; the last one is the expected value.
fn value_slots<'p>(plan: &'p TestPlan, call: &Call, unit: &CodeUnit) -> Option<Vec<ValueSlot<'p>>> {
    if plan.output.is_some() || !plan.logged.is_empty() {
        return None;
    }
    let mut slots = Vec::new();
    for step in &plan.setup {
        let SetupStep::Assign { target, code } = step else {
            return None;
        };
        let items = call_items(code)?;
        let bare = items.iter().filter(|item| keyword(item).is_none()).count();
        // Without names, several values could not be told apart.
        if bare > 1 {
            return None;
        }
        slots.extend(items.iter().map(|item| match keyword(item) {
            Some((name, code)) => ValueSlot {
                hint: name.to_owned(),
                code,
            },
            None => ValueSlot {
                hint: format!("{target}_value"),
                code: item,
            },
        }));
    }
    let (code, expected, hint) = match &plan.exercise {
        Exercise::Value(code) => (code, expected_result(plan)?, "expected"),
        Exercise::Raises { call, .. } => (call, expected_message(plan)?, "message"),
        _ => return None,
    };
    let skipped = match call.receiver {
        Receiver::None => 0,
        Receiver::Instance(_) | Receiver::Class(_) => 1,
    };
    let items = call_items(code)?;
    let arguments = call_arguments(call, unit, skipped, BareArguments::ByName).ok()?;
    if arguments.len() != items.len() {
        return None;
    }
    for (item, argument) in items.iter().zip(arguments) {
        let hint = argument.parameter.trim_matches('_').to_owned();
        slots.push(match keyword(item) {
            Some((name, code)) => ValueSlot {
                hint: name.to_owned(),
                code,
            },
            None => ValueSlot { hint, code: item },
        });
    }
    let hint = hint.to_owned();
    slots.push(ValueSlot {
        hint,
        code: expected,
    });
    Some(slots)
}

/// Returns the expected value of the only assertion about the result.
fn expected_result(plan: &TestPlan) -> Option<&PythonCode> {
    match plan.checks.as_slice() {
        [
            Assertion {
                actual: ActualValue::Result,
                comparison: ComparisonKind::Equal | ComparisonKind::Is,
                expected,
            },
        ] => Some(expected),
        _ => None,
    }
}

/// Returns the message of an exception whose only argument it is.
fn expected_message(plan: &TestPlan) -> Option<&PythonCode> {
    let [
        Assertion {
            actual: ActualValue::ExceptionAttribute(name),
            comparison: ComparisonKind::Equal,
            expected: PythonCode::Group {
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

/// Returns the arguments of a call.
fn call_items(code: &PythonCode) -> Option<&[PythonCode]> {
    match code {
        PythonCode::Group {
            open,
            items,
            close,
            is_tuple: false,
        } if close == ")" && open.len() > 1 => Some(items),
        _ => None,
    }
}

/// Splits a keyword argument into name and value.
fn keyword(code: &PythonCode) -> Option<(&str, &PythonCode)> {
    match code {
        PythonCode::Pair {
            left,
            separator: "=",
            right,
        } => match left.as_ref() {
            PythonCode::Text(name) => Some((name, right)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if a value needs only builtins and the standard library, so that it can be made
/// before any test runs.
fn is_standard_value(code: &PythonCode, imports: &[TestImport]) -> bool {
    let is_standard = |name: &String| {
        let mut bound = imports.iter().filter(|import| import.bound_name() == name);
        bound.all(|import| import.section == ImportSection::Standard)
            && imports.iter().any(|import| import.bound_name() == name)
    };
    let Ok(found) = names(&format!("_ = {}", code.one_line())) else {
        return false;
    };
    let reads = found.reads.iter();
    reads
        .into_iter()
        .all(|name| is_builtin(name) || is_standard(name))
}

/// Renders a plan without its values.
fn plan_skeleton(plan: &TestPlan) -> Option<String> {
    let mut text = String::new();
    let shape = |code: &PythonCode| {
        let PythonCode::Group { open, items, .. } = code else {
            return None;
        };
        let keywords = items
            .iter()
            .map(|item| keyword(item).map_or("", |(name, _)| name));
        Some(format!("{open}{})", keywords.collect::<Vec<_>>().join(",")))
    };
    for step in &plan.setup {
        if let SetupStep::Assign { target, code } = step {
            text.push_str(&format!("{target} = {}\n", shape(code)?));
        }
    }
    let end = match &plan.exercise {
        Exercise::Value(call) => {
            let comparison = plan.checks.first().map(|check| check.comparison);
            format!("{} {comparison:?}", shape(call)?)
        }
        Exercise::Raises { call, class } => format!("{} raises {}", shape(call)?, class.one_line()),
        _ => return None,
    };
    Some(text + &end)
}

/// Returns the variables that a plan assigns.
fn assigned_variables(plan: &TestPlan) -> impl Iterator<Item = String> {
    plan.setup.iter().filter_map(|step| match step {
        SetupStep::Assign { target, .. } => Some(target.clone()),
        _ => None,
    })
}

/// Returns a name for a column that is not used in the test.
fn free_name(hint: &str, taken: &mut Vec<String>) -> String {
    let mut scope = ImportScope::new(std::collections::BTreeMap::new());
    let mut name = scope.variable(hint);
    // pytest reserves that name.
    while taken.contains(&name) || name == "request" {
        name = scope.variable(&format!("{hint}_value"));
        if taken.contains(&name) {
            name.push_str("_2");
        }
    }
    taken.push(name.clone());
    name
}

/// Writes a row of the table.
fn row_code(row: &[ValueSlot<'_>], placeholders: &[(usize, String)]) -> Option<PythonCode> {
    let codes = placeholders
        .iter()
        .map(|(column, _)| Some(row.get(*column)?.code.clone()));
    let mut codes: Vec<PythonCode> = codes.collect::<Option<_>>()?;
    match codes.len() {
        1 => codes.pop(),
        _ => Some(PythonCode::tuple(codes)),
    }
}

/// Replaces the varying values of a plan by the names of their columns.
fn with_placeholders(plan: &TestPlan, placeholders: &[(usize, String)]) -> Option<TestPlan> {
    let mut plan = plan.clone();
    let mut column = 0;
    let mut fill = |code: &mut PythonCode| {
        let placeholder = placeholders.iter().find(|(known, _)| *known == column);
        if let Some((_, name)) = placeholder {
            match code {
                PythonCode::Pair {
                    separator: "=",
                    right,
                    ..
                } => **right = PythonCode::text(name),
                _ => *code = PythonCode::text(name),
            }
        }
        column += 1;
    };
    for step in &mut plan.setup {
        if let SetupStep::Assign {
            code: PythonCode::Group { items, .. },
            ..
        } = step
        {
            items.iter_mut().for_each(&mut fill);
        }
    }
    match &mut plan.exercise {
        Exercise::Value(PythonCode::Group { items, .. })
        | Exercise::Raises {
            call: PythonCode::Group { items, .. },
            ..
        } => items.iter_mut().for_each(&mut fill),
        _ => return None,
    }
    let is_raised = matches!(plan.exercise, Exercise::Raises { .. });
    let check = plan.checks.first_mut()?;
    match &mut check.expected {
        PythonCode::Group { items, .. } if is_raised => items.iter_mut().for_each(&mut fill),
        whole => fill(whole),
    }
    Some(plan)
}

/// Names a test with a table: its outcome, and the columns that vary.
fn table_name(
    unit: &CodeUnit,
    tests: &[(&Call, &WrittenTest)],
    placeholders: &[(usize, String)],
    columns: usize,
) -> String {
    let mut words = vec!["test".to_owned()];
    if unit.qualified_name.contains('.') {
        let method = super::snake_case(name::last_name(unit));
        words.push(method.trim_matches('_').to_owned());
    }
    words.push(outcome_word(tests, placeholders, columns));
    let varying: Vec<&str> = placeholders
        .iter()
        .filter(|(column, _)| column + 1 < columns)
        .map(|(_, name)| name.as_str())
        .collect();
    let start = words.join("_");
    let short = format!("{start}_for_each_{}", varying.join("_and_"));
    if varying.len() <= 2 && short.len() <= name::MAX_LENGTH {
        short
    } else {
        name::truncate_name(&format!("{start}_for_each_case"))
    }
}

/// Returns the word for the outcome that all calls share, or `result`.
fn outcome_word(
    tests: &[(&Call, &WrittenTest)],
    placeholders: &[(usize, String)],
    columns: usize,
) -> String {
    let mut kinds: Vec<Option<String>> = tests
        .iter()
        .map(|(call, _)| match &call.outcome {
            CallOutcome::Returned(node) => {
                let is_same = !placeholders.iter().any(|(column, _)| column + 1 == columns);
                let value = name::value_word(&call.values, *node).filter(|_| is_same);
                let word = value.or_else(|| name::type_word(call.values.value(*node)));
                word.map(|word| format!("returns_{word}"))
            }
            CallOutcome::Raised { exception, .. } => match call.values.value(*exception) {
                Value::Exception(found) => {
                    Some(format!("raises_{}", super::snake_case(found.class.name())))
                }
                _ => None,
            },
            CallOutcome::Unfinished => None,
        })
        .collect();
    kinds.sort();
    kinds.dedup();
    match kinds.as_slice() {
        [Some(only)] => only.clone(),
        _ => "result".to_owned(),
    }
}
