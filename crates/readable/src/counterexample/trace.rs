//! What Hypothesis prints of a state machine that failed (5.1): a program whose lines are the steps.

use std::collections::BTreeMap;

use testwright_source::tree::{self, Class, Module, Statement, StatementKind};
use testwright_source::{TokenKind, tokens};

use super::Counterexample;
use super::harness::{Acts, Failing, Violation};
use super::values::without_margin;
use crate::explain::known_in_machine;
use crate::phrase::Speaker;
use crate::property::Subject;
use crate::term::Term;

/// A rule-based state machine of Hypothesis, as far as its traces need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The name of its class.
    pub name: String,
    /// What its author says about it, in one paragraph.
    pub comment: String,
    /// Its methods that check what must always be true. Traces show them as if they were steps.
    invariants: Vec<String>,
    /// What the names in its code stand for.
    known: BTreeMap<String, Term>,
}

/// A run of a state machine that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    steps: Vec<String>,
    /// The invariant that was checked last.
    invariant: Option<String>,
    violation: Violation,
}

impl Machine {
    /// The machine of that name, in a module that was read.
    pub(crate) fn find(module: &Module, text: &str, name: &str) -> Option<Machine> {
        module
            .body
            .iter()
            .find_map(|statement| match &statement.kind {
                StatementKind::Class(class) if class.name == name => Some(Machine {
                    known: known_in_machine(module, text, name),
                    ..Machine::of(class)
                }),
                _ => None,
            })
    }

    fn of(class: &Class) -> Machine {
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
                        callee.dotted().and_then(|path| path.last().copied()) == Some("invariant")
                    });
                    is_one.then(|| method.name.clone())
                }
                _ => None,
            });
        Machine {
            name: class.name.clone(),
            comment: tree::first_paragraph(class.docstring.as_deref().unwrap_or_default()),
            invariants: invariants.collect(),
            known: BTreeMap::new(),
        }
    }

    /// The run of this machine in what Hypothesis printed.
    #[must_use]
    pub fn trace(&self, printed: &str) -> Option<Trace> {
        let lines: Vec<&str> = printed.lines().map(without_margin).collect();
        let beginning = format!("state = {}(", self.name);
        let start = lines.iter().position(|line| line.starts_with(&beginning))?;
        let mut steps = Vec::new();
        let mut checked = None;
        for step in whole_lines(lines.get(start + 1..)?) {
            let Some(step) = of_state(&step).filter(|step| step != "teardown()") else {
                break;
            };
            checked = (self.invariants.iter()).find(|name| step == format!("{name}()"));
            if checked.is_none() {
                steps.push(step);
            }
        }
        Some(Trace {
            steps,
            invariant: checked.cloned(),
            violation: violation(&lines),
        })
    }

    /// A run as a scenario, with a diagram. `module` is what the module of the machine is called in code.
    #[must_use]
    pub fn tell(&self, trace: &Trace, module: &str, speaker: &Speaker<'_>) -> Counterexample {
        let named = |name: &String| format!("It is \"{}\" that fails.", speaker.words(name));
        let invariant = trace.invariant.iter().map(named);
        let comment: Vec<String> = std::iter::once(self.comment.clone())
            .chain(invariant)
            .collect();
        let failing = Failing {
            harness: &self.name,
            comment: &comment,
            pools: &[],
            steps: &trace.steps,
            violation: trace.violation.clone(),
            acts: Some(&self.acts(trace, module)),
        };
        failing.tell_knowing(&self.known, speaker)
    }

    /// What Hypothesis prints is a program, of which the steps are the lines.
    fn acts(&self, trace: &Trace, module: &str) -> Acts {
        let of_state = |step: &String| match step.split_once(" = ") {
            Some((giving, call)) if is_name(giving) => vec![format!("{giving} = state.{call}")],
            _ => vec![format!("state.{step}")],
        };
        let check = trace.invariant.iter().map(|name| format!("state.{name}()"));
        Acts {
            before: vec![format!("state = {module}.{}()", self.name)],
            steps: trace.steps.iter().map(of_state).collect(),
            check: check.collect(),
            last: vec!["state.teardown()".to_owned()],
        }
    }
}

impl Subject {
    /// The state machine of that name.
    #[must_use]
    pub fn machine(&self, name: &str) -> Option<Machine> {
        Machine::find(self.module(), &self.text, name)
    }
}

/// The machine that a trace is of.
#[must_use]
pub fn machine_in(printed: &str) -> Option<&str> {
    let mut lines = printed.lines().map(without_margin);
    let name = lines
        .find_map(|line| line.strip_prefix("state = ")?.split_once('('))?
        .0;
    is_name(name).then_some(name)
}

fn is_name(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// Lines, those together whose brackets belong together.
fn whole_lines(lines: &[&str]) -> Vec<String> {
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

/// `state.put(thing=a)` as `put(thing=a)`, with `v = ` before it if it is there.
fn of_state(line: &str) -> Option<String> {
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

/// What was wrong: the last assertion of the traceback, or else the class of the exception.
fn violation(lines: &[&str]) -> Violation {
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
                // What pytest makes of an assertion (`3 < 3`) is about values, not about what they are the values of.
                let has_name = tokens(code)
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
        (Some(check), None) => Violation::Check(check),
        (Some(check), Some(class)) if class == "AssertionError" => Violation::Check(check),
        (_, class) => Violation::Error(class),
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

    fn told(printed: &str) -> String {
        let subject = Subject::read("machine.py", SHELF).expect("Python");
        let machine = subject.machine("Shelf").expect("it is there");
        assert_eq!(machine_in(printed), Some("Shelf"));
        let trace = machine.trace(printed).expect("a trace");
        let vocabulary = Vocabulary::default();
        let found = machine.tell(&trace, "machine", &Speaker::new(&vocabulary));
        gherkin::write(&found.told.feature).expect("every parser reads it")
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
        .assert_eq(&told(PRINTED));
    }

    #[test]
    fn x7_and_r8_what_a_machine_remembers_has_the_kind_of_its_start_value() {
        let text = "MOST = 2\n\nclass Library(RuleBasedStateMachine):\n    def __init__(self):\n        \
                    self.lent = {}\n        self.waiting = False\n\n    @rule()\n    def lend(self): ...\n";
        let subject = Subject::read("machine.py", text).expect("Python");
        let machine = subject.machine("Library").expect("it is there");
        let check = |assertion: &str| {
            let printed = format!(
                "    assert {assertion}\nAssertionError\nFalsifying example:\nstate = Library()\nstate.lend()\n"
            );
            let trace = machine.trace(&printed).expect("a trace");
            let vocabulary = Vocabulary::default();
            let found = machine.tell(&trace, "machine", &Speaker::new(&vocabulary));
            let steps = &found.told.feature.scenarios[0].steps;
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
        .assert_eq(&told(printed));
    }
}
