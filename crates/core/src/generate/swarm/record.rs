//! What tests of a swarm had in and touched, as text.
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
use super::directed::Observation;
use crate::{ClassId, Classes};

const CONFIG: &str = "CONFIG:";
const BRANCHES: &str = "BRANCHES:";
const STATEMENTS: &str = "STATEMENTS:";
const ENTRY: &str = "::::";

/// What one test of a swarm had in, and what it touched, in the words of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwarmRecord {
    /// The classes that were in.
    pub classes: BTreeSet<ClassId>,
    /// The branches it took.
    pub branches: Vec<String>,
    /// The statements it reached.
    pub statements: Vec<String>,
}

impl SwarmRecord {
    /// All that it touched, for [`directed`](super::directed).
    pub fn observation(&self) -> Observation<&str> {
        let targets = self.branches.iter().chain(&self.statements);
        Observation {
            classes: self.classes.clone(),
            targets: targets.map(String::as_str).collect(),
        }
    }

    /// Reads records, and says what in the text makes no sense.
    pub fn read(classes: &Classes, text: &str) -> (Vec<SwarmRecord>, Vec<TextProblem>) {
        let index = ClassIndex::new(classes);
        let mut records: Vec<SwarmRecord> = Vec::new();
        let mut problems = Vec::new();
        let mut section = "";
        for (number, line) in (1..).zip(text.lines()) {
            let mut complain = |message: String| {
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
                        Err(message) => complain(message),
                    },
                    (Some(target), Some(record)) if section == BRANCHES => {
                        record.branches.push(target.to_owned());
                    }
                    (Some(target), Some(record)) => record.statements.push(target.to_owned()),
                    (Some(_), None) => complain(format!("there is no `{CONFIG}` before it")),
                    (None, _) => complain(format!("a line begins with `{ENTRY}` or is a heading")),
                },
            }
        }
        (records, problems)
    }

    /// Writes records.
    pub fn write(classes: &Classes, records: &[SwarmRecord]) -> String {
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
    fn what_is_written_can_be_read() {
        let classes = Classes::new(&catalog(&[], &["go()", "*3 wait()\n", "  stop()"]));
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
        let classes = Classes::new(&catalog(&[], &["go()"]));
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
