//! Counterexamples of Hypothesis state machines, whose printed trace is a program with one step per
//! line.

use std::collections::BTreeMap;

use testwright_source::tree::{self, Class, Module, Statement, StatementKind};
use testwright_source::{TokenKind, tokenize};

use super::RenderedCounterexample;
use super::harness::{FailedTest, FailureCause, TestCode};
use super::values::without_margin;
use crate::explain::known_in_machine;
use crate::phrase::Phraser;
use crate::property::PropertyModule;
use crate::term::Term;

/// A Hypothesis rule-based state machine, as far as its traces need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateMachine {
    /// The name of the class.
    pub name: String,
    /// The first paragraph of its docstring.
    pub comment: String,
    /// The methods that check invariants. Traces list them like steps.
    invariants: Vec<String>,
    /// The meaning of the names in its code.
    known: BTreeMap<String, Term>,
}

/// A failed run of a state machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineTrace {
    /// The calls, without `state.` before them.
    steps: Vec<String>,
    /// The invariant that was checked last.
    invariant: Option<String>,
    /// The cause of the failure.
    cause: FailureCause,
}

impl StateMachine {
    /// Finds the machine of that name in a module.
    pub(crate) fn find(module: &Module, text: &str, name: &str) -> Option<StateMachine> {
        module
            .body
            .iter()
            .find_map(|statement| match &statement.kind {
                StatementKind::Class(class) if class.name == name => Some(StateMachine {
                    known: known_in_machine(module, text, name),
                    ..StateMachine::of(class)
                }),
                _ => None,
            })
    }

    /// Reads the docstring and the invariants of a class.
    fn of(class: &Class) -> StateMachine {
        let invariants = class
            .body
            .iter()
            .filter_map(|statement| match &statement.kind {
                StatementKind::Function(method) => {
                    let is_one = method.decorators.iter().any(|decorator| {
                        let callee = match &decorator.kind {
                            tree::ExpressionKind::Call { function, .. } => &**function,
                            _ => decorator,
                        };
                        callee.dotted_parts().and_then(|path| path.last().copied())
                            == Some("invariant")
                    });
                    is_one.then(|| method.name.clone())
                }
                _ => None,
            });
        StateMachine {
            name: class.name.clone(),
            comment: tree::first_paragraph(class.docstring.as_deref().unwrap_or_default()),
            invariants: invariants.collect(),
            known: BTreeMap::new(),
        }
    }

    /// Finds the run of this machine in Hypothesis's output.
    #[must_use]
    pub fn trace(&self, printed: &str) -> Option<MachineTrace> {
        let lines: Vec<&str> = printed.lines().map(without_margin).collect();
        let beginning = format!("state = {}(", self.name);
        let start = lines.iter().position(|line| line.starts_with(&beginning))?;
        let mut steps = Vec::new();
        let mut checked = None;
        for step in join_continued_lines(lines.get(start + 1..)?) {
            let Some(step) = strip_state_prefix(&step).filter(|step| step != "teardown()") else {
                break;
            };
            checked = (self.invariants.iter()).find(|name| step == format!("{name}()"));
            if checked.is_none() {
                steps.push(step);
            }
        }
        Some(MachineTrace {
            steps,
            invariant: checked.cloned(),
            cause: find_cause(&lines),
        })
    }

    /// Renders a run as a scenario with a diagram. `module` is the name of the machine's module in
    /// code.
    #[must_use]
    pub fn render(
        &self,
        trace: &MachineTrace,
        module: &str,
        phraser: &Phraser<'_>,
    ) -> RenderedCounterexample {
        let named = |name: &String| format!("It is \"{}\" that fails.", phraser.words(name));
        let invariant = trace.invariant.iter().map(named);
        let comment: Vec<String> = std::iter::once(self.comment.clone())
            .chain(invariant)
            .collect();
        let failing = FailedTest {
            harness: &self.name,
            comment: &comment,
            pools: &[],
            steps: &trace.steps,
            cause: trace.cause.clone(),
            code: Some(&self.test_code(trace, module)),
        };
        failing.render_with_names(&self.known, phraser)
    }

    /// Returns the code of the steps: the printed program itself.
    fn test_code(&self, trace: &MachineTrace, module: &str) -> TestCode {
        let of_state = |step: &String| match step.split_once(" = ") {
            Some((giving, call)) if is_name(giving) => vec![format!("{giving} = state.{call}")],
            _ => vec![format!("state.{step}")],
        };
        let check = trace.invariant.iter().map(|name| format!("state.{name}()"));
        TestCode {
            before: vec![format!("state = {module}.{}()", self.name)],
            steps: trace.steps.iter().map(of_state).collect(),
            check: check.collect(),
            last: vec!["state.teardown()".to_owned()],
        }
    }
}

impl PropertyModule {
    /// Finds the state machine of that name.
    #[must_use]
    pub fn machine(&self, name: &str) -> Option<StateMachine> {
        StateMachine::find(self.module(), &self.text, name)
    }
}

/// Returns the name of the machine that a trace belongs to.
#[must_use]
pub fn machine_name(printed: &str) -> Option<&str> {
    let mut lines = printed.lines().map(without_margin);
    let name = lines
        .find_map(|line| line.strip_prefix("state = ")?.split_once('('))?
        .0;
    is_name(name).then_some(name)
}

/// Returns true if a text is an identifier.
fn is_name(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Joins lines whose brackets belong together.
fn join_continued_lines(lines: &[&str]) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    let mut open = String::new();
    for line in lines {
        if !open.is_empty() {
            open.push('\n');
        }
        open.push_str(line);
        if tree::statements(&open).is_ok() {
            whole.push(std::mem::take(&mut open));
        }
    }
    whole
}

/// Rewrites `state.put(thing=a)` as `put(thing=a)`, keeping a leading `v = `.
fn strip_state_prefix(line: &str) -> Option<String> {
    let (giving, call) = match line.split_once(" = state.") {
        Some((giving, call)) => (format!("{giving} = "), call),
        None => (String::new(), line.strip_prefix("state.")?),
    };
    let parsed = tree::statements(call).ok()?;
    let is_call = matches!(
        parsed.as_slice(),
        [Statement { kind: StatementKind::Expression(expression), .. }]
            if matches!(expression.kind, tree::ExpressionKind::Call { .. })
    );
    is_call.then(|| giving + call)
}

/// Finds the cause of the failure: the last assertion of the traceback, or else the class of the
/// exception.
fn find_cause(lines: &[&str]) -> FailureCause {
    let last = |wanted: &dyn Fn(&str) -> Option<String>| {
        lines
            .iter()
            .rev()
            .find_map(|line| wanted(line.trim_start_matches(['>', ' '])))
    };
    let assertion = last(&|line| {
        let rest = line.strip_prefix("assert ")?;
        let text = format!("assert {rest}");
        let parsed = tree::statements(&text).ok()?;
        match parsed.as_slice() {
            [
                Statement {
                    kind: StatementKind::Assert { condition, .. },
                    ..
                },
            ] => {
                let code = text.get(condition.range.clone())?;
                // pytest's version of an assertion (`3 < 3`) shows values without names, so it is
                // skipped.
                let has_name = tokenize(code)
                    .iter()
                    .any(|token| token.kind == TokenKind::Name);
                has_name.then(|| code.to_owned())
            }
            _ => None,
        }
    });
    let class = last(&|line| {
        let name = line.split([':', ' ']).next()?;
        let plain = name.rsplit('.').next()?;
        let is_class = ["Error", "Exception"]
            .iter()
            .any(|end| plain.ends_with(end))
            && plain.chars().all(char::is_alphanumeric);
        is_class.then(|| plain.to_owned())
    });
    match (assertion, class) {
        (Some(check), None) => FailureCause::Check(check),
        (Some(check), Some(class)) if class == "AssertionError" => FailureCause::Check(check),
        (_, class) => FailureCause::Error(class),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::gherkin;
    use crate::idiom::Vocabulary;

    const SHELF: &str = "class Shelf(RuleBasedStateMachine):\n    \"\"\"Things on a shelf.\"\"\"\n\n    @rule()\n    \
        def put(self, thing): ...\n\n    @invariant()\n    def has_room(self): ...\n";

    const PRINTED: &str = "\
>       assert len(self.items) < 3, \"full\"
E       AssertionError: full
E       assert 3 < 3
E        +  where 3 = len(['a', 'a', 'a'])
E       Failing test case: <state machine>
E       state = Shelf()
E       state.has_room()
E       things_0 = state.make(name='a')
E       state.put(
E           thing=things_0,
E       )
E       state.has_room()
E       state.teardown()

machine.py:30: AssertionError
";

    fn rendered(printed: &str) -> String {
        let module = PropertyModule::parse("machine.py", SHELF).expect("Python");
        let machine = module.machine("Shelf").expect("it is there");
        assert_eq!(machine_name(printed), Some("Shelf"));
        let trace = machine.trace(printed).expect("a trace");
        let vocabulary = Vocabulary::default();
        let found = machine.render(&trace, "machine", &Phraser::new(&vocabulary));
        gherkin::write(&found.rendered.feature).expect("every parser reads it")
    }

    #[test]
    fn x7_a_trace_of_a_state_machine() {
        expect![[r#"
            Feature: Shelf
              Things on a shelf. It is "has room" that fails.

              @counterexample
              Scenario: Counterexample with 2 steps
                When I call "make" with name set to "a", giving things_0
                And I call "put" with thing set to things_0
                Then the items have fewer than 3 elements
        "#]]
        .assert_eq(&rendered(PRINTED));
    }

    #[test]
    fn x7_and_r8_what_a_machine_remembers_has_the_kind_of_its_start_value() {
        let text = "MOST = 2\n\nclass Library(RuleBasedStateMachine):\n    def __init__(self):\n        \
                    self.lent = {}\n        self.waiting = False\n\n    @rule()\n    def lend(self): ...\n";
        let module = PropertyModule::parse("machine.py", text).expect("Python");
        let machine = module.machine("Library").expect("it is there");
        let check = |assertion: &str| {
            let printed = format!(
                "    assert {assertion}\nAssertionError\nFalsifying example:\nstate = Library()\nstate.lend()\n"
            );
            let trace = machine.trace(&printed).expect("a trace");
            let vocabulary = Vocabulary::default();
            let found = machine.render(&trace, "machine", &Phraser::new(&vocabulary));
            let steps = &found.rendered.feature.scenarios[0].steps;
            steps
                .last()
                .map(|step| step.text.clone())
                .unwrap_or_default()
        };
        assert_eq!(
            check("len(self.lent) <= MOST"),
            "the lent has at most 2 entries"
        );
        assert_eq!(check("'x' in self.lent"), "the lent has an entry for \"x\"");
        assert_eq!(check("not self.waiting"), "the waiting flag is false");
    }

    #[test]
    fn an_error_instead() {
        let printed = "  File \"m.py\", line 3, in put\n    self.items[thing]\nKeyError: 'a'\nFalsifying example:\n\
                       state = Shelf()\nstate.put(thing='a')\nstate.teardown()\n";
        expect![[r#"
            Feature: Shelf
              Things on a shelf.

              @counterexample
              Scenario: Counterexample with 1 step
                When I try to call "put" with thing set to "a"
                Then no error is raised
        "#]]
        .assert_eq(&rendered(printed));
    }
}
