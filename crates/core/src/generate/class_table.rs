//! A number for each action class: probabilities, or lines of code.
//!
//! In files it is a line per class, the class as it stands in the harness:
//!
//! ```text
//! <list>.append(<int>)  %%%% 0.25
//! <list> := []  %%%% 0.75
//! ```

use super::class_text::{ClassIndex, TextProblem, one_line};
use crate::{ActionClasses, ClassId};

/// The separator between a class and its number.
pub(super) const SEPARATOR: &str = "%%%%";

/// A number for each class, or for some of them.
///
/// ```
/// use testwright_core::generate::ClassTable;
/// use testwright_core::{ClassId, ActionClasses, toys};
///
/// let classes = ActionClasses::new(&toys::catalog(&[], &["go()", "stop()"]));
/// let (table, problems) = ClassTable::read(&classes, "stop()  %%%% 0.25\nfly()  %%%% 1");
/// assert_eq!(table.get(ClassId(1)), Some(0.25));
/// assert_eq!(table.get(ClassId(0)), None);
/// assert_eq!(problems[0].message, "the harness has no line `fly()`");
/// assert_eq!(table.write(&classes), "stop()  %%%% 0.25\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassTable {
    numbers: Vec<Option<f64>>,
}

impl ClassTable {
    /// Returns a table with the same number for all classes. They sum to 1.
    pub fn equal(classes: &ActionClasses) -> ClassTable {
        let share = 1.0 / classes.len() as f64;
        classes.iter().map(|class| (class, share)).collect()
    }

    /// Computes probabilities from lines of code. Classes that run code share `1 - baseline` in
    /// proportion to their lines; those that run none (or are not in the table) share `baseline`
    /// equally.
    ///
    /// Long code has more room for bugs; but a line that only fills a slot runs none, and nothing
    /// works without it.
    pub fn by_lines_of_code(
        classes: &ActionClasses,
        lines: &ClassTable,
        baseline: f64,
    ) -> ClassTable {
        let lines = |class: ClassId| lines.get(class).filter(|lines| *lines > 0.0);
        let total: f64 = classes.iter().filter_map(lines).sum();
        let without = classes.iter().filter(|class| lines(*class).is_none());
        let without = without.count() as f64;
        // If there are no classes of one sort, the other sort gets everything.
        let baseline = match (total > 0.0, without > 0.0) {
            (false, _) => 1.0,
            (true, false) => 0.0,
            (true, true) => baseline,
        };
        let share = |class| match lines(class) {
            Some(lines) => (class, (1.0 - baseline) * lines / total),
            None => (class, baseline / without),
        };
        classes.iter().map(share).collect()
    }

    /// Returns the number of a class.
    #[inline]
    pub fn get(&self, class: ClassId) -> Option<f64> {
        self.numbers.get(class.0).copied().flatten()
    }

    /// Sets the number of a class.
    pub fn set(&mut self, class: ClassId, number: f64) {
        if class.0 >= self.numbers.len() {
            self.numbers.resize(class.0 + 1, None);
        }
        self.numbers[class.0] = Some(number);
    }

    /// Returns the classes that have a number, in order.
    pub fn iter(&self) -> impl Iterator<Item = (ClassId, f64)> + '_ {
        let numbered = self.numbers.iter().enumerate();
        numbered.filter_map(|(index, number)| Some((ClassId(index), (*number)?)))
    }

    /// Parses a table, and returns it with the lines that cannot be understood. The rest is usable.
    pub fn read(classes: &ActionClasses, text: &str) -> (ClassTable, Vec<TextProblem>) {
        let index = ClassIndex::new(classes);
        let mut table = ClassTable::default();
        let mut problems = Vec::new();
        // TSTL's files have line breaks in some classes, so a class continues until its number
        // comes.
        let mut class = String::new();
        for (number, line) in (1..).zip(text.lines()) {
            class.push_str(line);
            let Some((before, after)) = class.rsplit_once(SEPARATOR) else {
                class.push(' ');
                continue;
            };
            let after = after.trim();
            let value = after.parse::<f64>().ok();
            match value.filter(|value| value.is_finite() && *value >= 0.0) {
                None => problems.push(TextProblem {
                    line: number,
                    message: format!("`{after}` is not a number of at least 0"),
                }),
                Some(value) => match index.find(before) {
                    Ok(class) => table.set(class, value),
                    Err(message) => problems.push(TextProblem {
                        line: number,
                        message,
                    }),
                },
            }
            class.clear();
        }
        if !class.trim().is_empty() {
            problems.push(TextProblem {
                line: text.lines().count(),
                message: format!("after a class, `{SEPARATOR}` and a number are missing"),
            });
        }
        (table, problems)
    }

    /// Renders the table as text.
    pub fn write(&self, classes: &ActionClasses) -> String {
        let line = |(class, number)| {
            let class = one_line(classes.text(class));
            format!("{class}  {SEPARATOR} {number}\n")
        };
        self.iter().map(line).collect()
    }
}

impl FromIterator<(ClassId, f64)> for ClassTable {
    fn from_iter<I: IntoIterator<Item = (ClassId, f64)>>(numbers: I) -> ClassTable {
        let mut table = ClassTable::default();
        for (class, number) in numbers {
            table.set(class, number);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::catalog;

    fn classes() -> ActionClasses {
        let lines = ["go()", "say('%%%% 3')", "*3 wait()\n", "  stop()"];
        ActionClasses::new(&catalog(&[], &lines))
    }

    #[test]
    fn class_tables_survive_a_round_trip() {
        let classes = classes();
        let numbers = [0.1, 1.0 / 3.0, 0.0, 1e-9];
        let table: ClassTable = classes.iter().zip(numbers).collect();
        let text = table.write(&classes);
        assert_eq!(text.lines().count(), 4);
        assert_eq!(ClassTable::read(&classes, &text), (table, vec![]));
    }

    #[test]
    fn files_of_the_ancestor_are_read() {
        let text = "*3 wait()\n  %%%% 0.5\n  stop()  %%%% 0.25\n";
        let (table, problems) = ClassTable::read(&classes(), text);
        assert_eq!(problems, []);
        let numbers: Vec<(ClassId, f64)> = table.iter().collect();
        assert_eq!(numbers, [(ClassId(2), 0.5), (ClassId(3), 0.25)]);
    }

    #[test]
    fn nonsense_is_named_with_its_line() {
        let text = "go()  %%%% 1\ngo()  %%%% -1\nfly()  %%%% 1\nstop()\n";
        let (table, problems) = ClassTable::read(&classes(), text);
        assert_eq!(table.iter().count(), 1);
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "line 2: `-1` is not a number of at least 0",
                "line 3: the harness has no line `fly()`",
                "line 4: after a class, `%%%%` and a number are missing",
            ]
        );
    }

    #[test]
    fn lines_of_code_make_probabilities() {
        let classes = classes();
        let lines: ClassTable = [(ClassId(0), 30.0), (ClassId(1), 10.0)]
            .into_iter()
            .collect();
        let table = ClassTable::by_lines_of_code(&classes, &lines, 0.2);
        let probabilities: Vec<f64> = table.iter().map(|(_, number)| number).collect();
        assert_eq!(
            probabilities,
            [0.8 * 30.0 / 40.0, 0.8 * 10.0 / 40.0, 0.1, 0.1]
        );
        let none = ClassTable::by_lines_of_code(&classes, &ClassTable::default(), 0.2);
        assert_eq!(none, ClassTable::equal(&classes));
    }
}
