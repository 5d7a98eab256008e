//! Text form of the configurations and coverage of a swarm's tests.
//!
//! ```text
//! CONFIG:
//! ::::<list>.append(<int>)
//! BRANCHES:
//! ::::('list.py', (3, 4))
//! STATEMENTS:
//! ::::('list.py', 3)
//! ```

use std::collections::BTreeSet;

use super::super::class_text::{ClassIndex, TextProblem, one_line};
use super::directed::SwarmObservation;
use crate::{ActionClasses, ClassId};

/// The heading before the included classes; begins a record.
const CONFIG: &str = "CONFIG:";
/// The heading before the branches.
const BRANCHES: &str = "BRANCHES:";
/// The heading before the statements.
const STATEMENTS: &str = "STATEMENTS:";
/// The prefix of each entry.
const ENTRY: &str = "::::";

/// The configuration and coverage of one test of a swarm, with targets as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwarmRecord {
    /// The included classes.
    pub classes: BTreeSet<ClassId>,
    /// The branches it took.
    pub branches: Vec<String>,
    /// The statements it reached.
    pub statements: Vec<String>,
}

impl SwarmRecord {
    /// Returns the record as an observation for [`directed`](super::directed).
    pub fn observation(&self) -> SwarmObservation<&str> {
        let targets = self.branches.iter().chain(&self.statements);
        SwarmObservation {
            classes: self.classes.clone(),
            targets: targets.map(String::as_str).collect(),
        }
    }

    /// Parses records, and returns them with the lines that cannot be understood.
    pub fn read(classes: &ActionClasses, text: &str) -> (Vec<SwarmRecord>, Vec<TextProblem>) {
        let index = ClassIndex::new(classes);
        let mut records: Vec<SwarmRecord> = Vec::new();
        let mut problems = Vec::new();
        let mut section = "";
        for (number, line) in (1..).zip(text.lines()) {
            let mut add_problem = |message: String| {
                problems.push(TextProblem {
                    line: number,
                    message,
                });
            };
            match line.trim() {
                CONFIG => {
                    section = CONFIG;
                    records.push(SwarmRecord::default());
                }
                BRANCHES => section = BRANCHES,
                STATEMENTS => section = STATEMENTS,
                // The rest of a class with a line break in it.
                "" => {}
                _ => match (line.strip_prefix(ENTRY), records.last_mut()) {
                    (Some(class), Some(record)) if section == CONFIG => match index.find(class) {
                        Ok(class) => drop(record.classes.insert(class)),
                        Err(message) => add_problem(message),
                    },
                    (Some(target), Some(record)) if section == BRANCHES => {
                        record.branches.push(target.to_owned());
                    }
                    (Some(target), Some(record)) => record.statements.push(target.to_owned()),
                    (Some(_), None) => add_problem(format!("there is no `{CONFIG}` before it")),
                    (None, _) => add_problem(format!(
                        "expected a heading, or a line that begins with `{ENTRY}`"
                    )),
                },
            }
        }
        (records, problems)
    }

    /// Renders records as text.
    pub fn write(classes: &ActionClasses, records: &[SwarmRecord]) -> String {
        let mut text = String::new();
        let mut line = |parts: [&str; 2]| {
            text.extend(parts);
            text.push('\n');
        };
        for record in records {
            line([CONFIG, ""]);
            for class in &record.classes {
                line([ENTRY, &one_line(classes.text(*class))]);
            }
            for (heading, targets) in [
                (BRANCHES, &record.branches),
                (STATEMENTS, &record.statements),
            ] {
                line([heading, ""]);
                targets.iter().for_each(|target| line([ENTRY, target]));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::catalog;

    #[test]
    fn swarm_records_survive_a_round_trip() {
        let classes = ActionClasses::new(&catalog(&[], &["go()", "*3 wait()\n", "  stop()"]));
        let record = |ids: &[usize]| SwarmRecord {
            classes: ids.iter().copied().map(ClassId).collect(),
            branches: vec!["('a.py', (1, 2))".to_owned()],
            statements: vec!["('a.py', 1)".to_owned(), "('b.py', 7)".to_owned()],
        };
        let records = [record(&[0, 2]), record(&[]), record(&[1])];
        let text = SwarmRecord::write(&classes, &records);
        assert_eq!(
            SwarmRecord::read(&classes, &text),
            (records.to_vec(), vec![])
        );
        assert_eq!(records[0].observation().targets.len(), 3);
    }

    #[test]
    fn nonsense_is_named_with_its_line() {
        let classes = ActionClasses::new(&catalog(&[], &["go()"]));
        let text = "::::go()\nCONFIG:\n::::go() \n::::fly()\nBRANCHES:\nfoo\n::::1";
        let (records, problems) = SwarmRecord::read(&classes, text);
        assert_eq!(records.len(), 1);
        assert_eq!(
            (records[0].classes.len(), records[0].branches.len()),
            (1, 1)
        );
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [1, 4, 6]);
    }
}
