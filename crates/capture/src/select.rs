//! Selects few calls that show all recorded behavior of a unit.
//!
//! Each call reaches *goals*: lines, kinds of outcomes, kinds of effects, shapes of arguments.
//! Lines weigh most. Calls are selected greedily, the simplest first among equals, and redundant
//! ones are dropped again. So every line that any call reached is reached by a selected one.

mod untested_calls;

use std::collections::BTreeSet;

pub(crate) use untested_calls::{UntestedCalls, UntestedLine};

use crate::ValueGraph;
use crate::effects::CallEffect;
use crate::recording::{
    Call, CallOutcome, FileState, Interaction, ProgramVariable, Receiver, StepAction, StepOutcome,
};
use crate::value::{NodeId, Value, as_name};

/// An aspect of a unit's behavior that a call shows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SelectionGoal {
    /// A line of the unit that is reached.
    Line(u32),
    /// A line of a function without tests of its own that is reached.
    UntestedLine(UntestedLine),
    /// A kind of outcome.
    Outcome(String),
    /// An effect on the program or the outside.
    Effect(String),
    /// An argument that is a word known to the program.
    Choice(String),
    /// A shape of an argument.
    Shape(String),
}

impl SelectionGoal {
    /// Returns the weight of the goal in the selection.
    fn weight(&self) -> usize {
        match self {
            SelectionGoal::Line(_) | SelectionGoal::UntestedLine(_) => 8,
            SelectionGoal::Outcome(_) => 4,
            SelectionGoal::Effect(_) | SelectionGoal::Choice(_) => 2,
            SelectionGoal::Shape(_) => 1,
        }
    }
}

/// Selects the calls of one unit that are worth a test, in the order in which they were made.
///
/// `done` are calls with tests already; their goals count as reached. So do the lines in `below`
/// that the calls of other units reach; the lines reached by the selected calls are added to it.
/// `is_choice` recognizes the words that the program itself knows. Such an argument is a choice of
/// the caller, and each choice is worth a test.
#[must_use]
pub(crate) fn select<'a>(
    calls: &[&'a Call],
    done: &[&Call],
    untested: &mut UntestedCalls<'_>,
    is_choice: &dyn Fn(&str) -> bool,
) -> Vec<&'a Call> {
    let goals = |call: &Call| reached_goals(call, is_choice);
    let all_goals = |call: &&'a Call| {
        let mut goals = goals(call);
        goals.extend(
            untested
                .unreached_lines(call)
                .into_iter()
                .map(SelectionGoal::UntestedLine),
        );
        goals
    };
    let shown: BTreeSet<SelectionGoal> = done.iter().flat_map(|call| goals(call)).collect();
    let goals: Vec<BTreeSet<SelectionGoal>> = calls.iter().map(all_goals).collect();
    let costs: Vec<usize> = calls.iter().map(|call| test_size(call)).collect();
    let mut reached = shown.clone();
    let max_count = max_tests(calls).saturating_sub(done.len());
    let mut chosen: Vec<usize> = Vec::new();
    loop {
        let worth = |index: usize| -> usize {
            let of_call = goals.get(index).into_iter().flatten();
            let new = of_call.filter(|goal| !reached.contains(goal));
            new.map(SelectionGoal::weight).sum()
        };
        let best = (0..calls.len())
            .filter(|index| !chosen.contains(index))
            .map(|index| (worth(index), index))
            .filter(|(worth, _)| *worth > 0)
            .max_by_key(|(worth, index)| {
                let cost = costs.get(*index).copied().unwrap_or(usize::MAX);
                (*worth, usize::MAX - cost, usize::MAX - *index)
            });
        // New shapes of arguments alone do not justify more tests.
        match best {
            Some((worth, _))
                if worth < SelectionGoal::Effect(String::new()).weight()
                    && chosen.len() >= max_count =>
            {
                break;
            }
            Some((_, index)) => {
                reached.extend(goals.get(index).into_iter().flatten().cloned());
                chosen.push(index);
            }
            None => break,
        }
    }
    drop_superfluous(&mut chosen, &goals, &costs, &shown);
    chosen.sort_unstable();
    let chosen: Vec<&Call> = chosen
        .into_iter()
        .filter_map(|index| calls.get(index).copied())
        .collect();
    for call in &chosen {
        untested.mark_reached(call);
    }
    chosen
}

/// Returns the maximum number of tests: two for each path through the unit.
fn max_tests(calls: &[&Call]) -> usize {
    let paths: BTreeSet<(&[u32], String)> = calls
        .iter()
        .map(|call| (call.lines.as_slice(), outcome_kind(call)))
        .collect();
    2 * paths.len()
}

/// Drops calls whose goals others reach, the most expensive first.
fn drop_superfluous(
    chosen: &mut Vec<usize>,
    goals: &[BTreeSet<SelectionGoal>],
    costs: &[usize],
    shown: &BTreeSet<SelectionGoal>,
) {
    let mut most_expensive = chosen.clone();
    most_expensive.sort_by_key(|index| std::cmp::Reverse(costs.get(*index).copied().unwrap_or(0)));
    for index in most_expensive {
        let of_others = chosen
            .iter()
            .filter(|other| **other != index)
            .filter_map(|other| goals.get(*other))
            .flatten()
            .cloned();
        let others: BTreeSet<SelectionGoal> = shown.iter().cloned().chain(of_others).collect();
        if goals.get(index).is_some_and(|own| own.is_subset(&others)) {
            chosen.retain(|other| *other != index);
        }
    }
}

/// Estimates the size of a call's test.
fn test_size(call: &Call) -> usize {
    let events = call.events.len() * 5 + call.variables.len();
    // Slow tests are expensive. Only whole seconds count: on a busy machine, finer differences are
    // random, and the selection must not depend on them.
    let slow = usize::try_from(call.microseconds / 1_000_000 * 1000).unwrap_or(usize::MAX);
    call.values
        .len()
        .saturating_add(events)
        .saturating_add(slow)
}

/// Returns the goals that a call reaches.
fn reached_goals(call: &Call, is_choice: &dyn Fn(&str) -> bool) -> BTreeSet<SelectionGoal> {
    let mut goals: BTreeSet<SelectionGoal> = call
        .lines
        .iter()
        .copied()
        .map(SelectionGoal::Line)
        .collect();
    goals.insert(SelectionGoal::Outcome(outcome_kind(call)));
    for effect in call.effects() {
        goals.insert(SelectionGoal::Effect(match effect {
            CallEffect::Changed { after, .. } => {
                format!("changes {}", type_name(&call.values, after))
            }
            CallEffect::Rebound { variable, .. } => match variable {
                ProgramVariable::Global { name, .. }
                | ProgramVariable::ClassAttribute { name, .. }
                | ProgramVariable::ClosureVariable { name }
                | ProgramVariable::Default { parameter: name } => format!("binds {name}"),
            },
        }));
    }
    for event in &call.events {
        goals.insert(SelectionGoal::Effect(match &event.external {
            Interaction::Input { .. } => "reads the keyboard".to_owned(),
            Interaction::Output { is_error, .. } => format!("prints {is_error}"),
            Interaction::File { before, after, .. } => {
                format!(
                    "file {} {} {}",
                    file_kind(before),
                    file_kind(after),
                    before == after
                )
            }
            Interaction::Environment { name, .. } => format!("variable {name}"),
            Interaction::WorkingFolder { before, after } => {
                format!("working folder {}", before == after)
            }
            Interaction::Permissions { .. } => "permissions".to_owned(),
            Interaction::Logged { level, .. } => format!("logs {level}"),
            Interaction::Called { function, .. } => format!("asks {function}"),
        }));
    }
    for step in &call.steps {
        goals.insert(SelectionGoal::Effect(match step.action {
            StepAction::Next => "is asked for the next".to_owned(),
            StepAction::Send(_) => "is sent something".to_owned(),
            StepAction::Throw(_) => "is thrown something".to_owned(),
            StepAction::Close => "is closed".to_owned(),
        }));
    }
    let own = match call.receiver {
        Receiver::None => 0,
        Receiver::Instance(_) | Receiver::Class(_) => 1,
    };
    for (index, argument) in call.arguments.iter().enumerate() {
        let word = as_name(call.values.value(argument.before));
        if let Some(word) = word.filter(|word| is_choice(word)) {
            goals.insert(SelectionGoal::Choice(format!("{} {word}", argument.name)));
        }
        // Choices come after the data that they are about; a word that comes first is data.
        let word = word.filter(|_| index > own);
        let shape = match (argument.is_default, word) {
            (true, _) => "left out".to_owned(),
            (false, Some(word)) => word.to_owned(),
            (false, None) => value_shape(&call.values, argument.before),
        };
        goals.insert(SelectionGoal::Shape(format!("{} {shape}", argument.name)));
    }
    goals
}

/// Describes the state of a file.
fn file_kind(state: &FileState) -> &'static str {
    match state {
        FileState::Absent => "nothing",
        FileState::File(_) | FileState::LargeFile(_) => "a file",
        FileState::Folder(_) => "a folder",
        FileState::Link(_) => "a link",
        FileState::Other => "something",
    }
}

/// Describes the kind of a call's outcome.
fn outcome_kind(call: &Call) -> String {
    match &call.outcome {
        CallOutcome::Returned(value) => {
            let ends: BTreeSet<&str> = call
                .steps
                .iter()
                .map(|step| match step.outcome {
                    StepOutcome::Yielded(_) => "yields",
                    StepOutcome::Returned(_) => "ends",
                    StepOutcome::Raised(_) => "raises",
                })
                .collect();
            format!("gives {} {ends:?}", value_shape(&call.values, *value))
        }
        CallOutcome::Raised { exception, .. } => {
            format!("raises {}", type_name(&call.values, *exception))
        }
        CallOutcome::Unfinished => "does not end".to_owned(),
    }
}

/// Returns the type of a value.
fn type_name(graph: &ValueGraph, node: NodeId) -> String {
    match graph.value(node) {
        Value::None => "None".to_owned(),
        Value::Boolean(_) => "bool".to_owned(),
        Value::Integer(_) | Value::LargeInteger(_) => "int".to_owned(),
        Value::Float(_) => "float".to_owned(),
        Value::Text(_) | Value::SurrogateText(_) => "str".to_owned(),
        Value::Bytes(_) | Value::ByteArray(_) => "bytes".to_owned(),
        Value::List(_) => "list".to_owned(),
        Value::Tuple(_) => "tuple".to_owned(),
        Value::Set(_) | Value::FrozenSet(_) => "set".to_owned(),
        Value::Dictionary(_) => "dict".to_owned(),
        Value::Object(object) => object.class.to_string(),
        Value::Constructed { callee, .. } => callee.to_string(),
        Value::Exception(exception) => exception.class.to_string(),
        Value::EnumMember { class, names } => format!("{class} {names:?}"),
        Value::Reference(reference) => reference.to_string(),
        Value::Omitted { class, .. } | Value::Unknown { class, .. } => class.to_string(),
        Value::Generator { .. } => "generator".to_owned(),
        Value::Function(_) | Value::Method { .. } => "function".to_owned(),
        Value::Iterator { .. } => "iterator".to_owned(),
        Value::Stream { class, .. } => class.to_string(),
        Value::Complex(..) => "complex".to_owned(),
        Value::Ellipsis | Value::NotImplemented => "constant".to_owned(),
    }
}

/// Returns the type of a value with properties that often make a difference: emptiness, sign,
/// length class.
fn value_shape(graph: &ValueGraph, node: NodeId) -> String {
    let length = |length: usize| match length {
        0 => "empty",
        1 => "one",
        _ => "many",
    };
    let more = match graph.value(node) {
        Value::Boolean(value) => value.to_string(),
        Value::Integer(number) => number.signum().to_string(),
        Value::Float(number) if number.0.is_nan() => "nan".to_owned(),
        Value::Float(number) => format!("{:?}", number.0.partial_cmp(&0.0)),
        Value::Text(text) => length(text.len()).to_owned(),
        Value::Bytes(bytes) | Value::ByteArray(bytes) => length(bytes.len()).to_owned(),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            length(items.len()).to_owned()
        }
        Value::Dictionary(items) => length(items.len()).to_owned(),
        _ => String::new(),
    };
    format!("{} {more}", type_name(graph, node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ValueNode;
    use crate::recording::{BoundArgument, CallId, UnitId};

    fn call(id: u64, lines: &[u32], result: i64, size: usize) -> Call {
        let mut values = ValueGraph::default();
        let result = values.add(ValueNode::plain(Value::Integer(result)));
        for _ in 0..size {
            values.add(ValueNode::plain(Value::None));
        }
        Call {
            id: CallId(id),
            end: Some(id),
            execution: 0,
            thread: 0,
            task: None,
            unit: UnitId(0),
            caller: None,
            is_from_own_method: false,
            receiver: Receiver::None,
            arguments: Vec::new(),
            variables: Vec::new(),
            outcome: CallOutcome::Returned(result),
            steps: Vec::new(),
            events: Vec::new(),
            lines: lines.to_vec(),
            microseconds: 0,
            uncaptured: Vec::new(),
            values,
        }
    }

    fn chosen(calls: &[Call], done: &[&Call]) -> Vec<u64> {
        let calls: Vec<&Call> = calls.iter().collect();
        let recording = crate::Recording::default();
        let is_choice = |word: &str| word == "known";
        let selected = select(
            &calls,
            done,
            &mut UntestedCalls::new(&recording, |_| true),
            &is_choice,
        );
        selected.iter().map(|call| call.id.0).collect()
    }

    #[test]
    fn lines_of_functions_without_tests_count_for_their_callers_once() {
        let inner = |id, caller, lines: &[u32]| Call {
            unit: UnitId(1),
            caller: Some(CallId(caller)),
            ..call(id, lines, 1, 1)
        };
        let recording = crate::Recording {
            calls: vec![
                call(1, &[1], 1, 1),
                inner(2, 1, &[50]),
                inner(3, 2, &[51]),
                call(4, &[1], 1, 1),
                inner(5, 4, &[50, 51, 52]),
                call(6, &[1], 1, 1),
                inner(7, 6, &[52]),
            ],
            ..crate::Recording::default()
        };
        let calls: Vec<&Call> = (recording.calls.iter())
            .filter(|call| call.unit == UnitId(0))
            .collect();
        let mut untested = UntestedCalls::new(&recording, |call| call.unit == UnitId(0));
        let selected = select(&calls, &[], &mut untested, &|_| false);
        let ids = |calls: &[&Call]| calls.iter().map(|call| call.id.0).collect::<Vec<_>>();
        assert_eq!(ids(&selected), [4]);
        // Callers of another unit find everything shown.
        let selected = select(&calls, &calls[..1], &mut untested, &|_| false);
        assert_eq!(ids(&selected), [] as [u64; 0]);
    }

    #[test]
    fn words_behind_the_first_argument_are_choices() {
        let given = |id, first: &str, second: &str| {
            let mut call = call(id, &[1], 1, 1);
            for text in [first, second] {
                let node = ValueNode::plain(Value::Text(text.to_owned()));
                let before = call.values.add(node);
                call.arguments.push(BoundArgument {
                    name: format!("argument {}", call.arguments.len()),
                    before,
                    after: Some(before),
                    is_default: false,
                });
            }
            call
        };
        let calls = [
            given(1, "ann", "grid"),
            given(2, "bob", "grid"),
            given(3, "ann", "html"),
        ];
        assert_eq!(chosen(&calls, &[]), [1, 3]);
        let calls = [
            given(1, "known", "grid"),
            given(2, "bob", "grid"),
            given(3, "ann", "grid"),
        ];
        assert_eq!(chosen(&calls, &[]), [1]);
        assert_eq!(chosen(&calls[1..], &[]), [2]);
        assert_eq!(chosen(&calls, &[&calls[1]]), [1]);
    }

    #[test]
    fn every_line_is_reached_by_few_and_plain_calls() {
        let calls = [
            call(1, &[1, 2], 1, 9),
            call(2, &[1, 2], 1, 2),
            call(3, &[1, 3], 1, 5),
            call(4, &[1, 2, 3], 1, 3),
        ];
        assert_eq!(chosen(&calls, &[]), [4]);
        assert_eq!(chosen(&calls[..3], &[]), [2, 3]);
    }

    #[test]
    fn tested_goals_need_no_other_test() {
        let calls = [call(1, &[1, 2], 1, 1), call(2, &[1, 3], 1, 1)];
        assert_eq!(chosen(&calls, &[&calls[0]]), [2]);
    }

    #[test]
    fn other_outcomes_count_as_well() {
        let calls = [
            call(1, &[1], 1, 1),
            call(2, &[1], 2, 1),
            call(3, &[1], -2, 1),
        ];
        assert_eq!(chosen(&calls, &[]), [1, 3]);
    }
}
