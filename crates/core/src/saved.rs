//! The saved form of a test: text, one action per line, readable in a diff.
//!
//! ```text
//! # testwright test 1
//! # harness: avl.tstl
//! # failure: KeyError: 3
//! int0 = 3
//! avl0 = avl.AVLTree()
//! avl0.insert(int0) ;;; the tree is a single node now
//! <<RESTART>>
//! int0 = 3
//! ```
//!
//! Reading looks each line up in the [`Catalog`]. Text is never evaluated, so a file from an
//! unknown source can do nothing that the harness does not offer anyway. Reading is lenient, since
//! files come from people, from other systems and from TSTL: blanks, line ends, remarks and
//! comments do not matter, the header may be missing, and slots may be written `self.p_avl[0]`.
//!
//! A line without a [label](Catalog::label) may stand for several actions. [`SavedTest::resolve`]
//! chooses one by running the test, since the choice depends on which actions are enabled.

use std::collections::BTreeMap;

use crate::catalog::ClosestAction;
use crate::{ActionId, Catalog, Error, Outcome, Step, System, Test};

/// The version of the form that [`write()`] writes. [`read`] rejects newer ones.
pub const VERSION: u32 = 1;

/// The beginning of the first line.
const TITLE: &str = "# testwright test ";
/// The line of a restart.
const RESTART: &str = "<<RESTART>>";
/// The mark before a remark.
const REMARK: &str = ";;;";

/// The maximum number of unreadable lines for which [`read`] suggests an action. A file with more
/// of them belongs to another harness, and searching for suggestions is slow.
pub const MAX_SUGGESTIONS: usize = 20;

/// The maximum number of `;;;` in a line that are tried as the beginning of the remark.
const MAX_REMARKS: usize = 16;

/// A test as written in a file, before ambiguous lines are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedTest {
    /// The steps, in order.
    pub lines: Vec<SavedLine>,
    /// The notes in the header: harness, seed, failure and the like, in order.
    pub notes: Vec<(String, String)>,
}

/// One line of a saved test that is a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedLine {
    /// The step.
    pub step: SavedStep,
    /// The remark after `;;;`.
    pub remark: Option<String>,
    /// The line number in the text, from 1.
    pub number: usize,
}

/// One step of a saved test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedStep {
    /// Take one of these actions, which all have the text of the line. Never empty.
    Act {
        /// The actions, in catalog order.
        candidates: Vec<ActionId>,
    },
    /// Reset the system and go on.
    Restart,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProblem {
    /// The line number, from 1.
    pub line: usize,
    /// A lower-case phrase without a full stop.
    pub message: String,
    /// Advice, if there is any.
    pub help: Option<String>,
    /// The line itself, without its end.
    pub text: String,
}

/// Returns the notes in the header of a saved test, without needing a catalog; empty if there is
/// no header.
pub fn notes(text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    if !text.starts_with(TITLE) {
        return Vec::new();
    }
    let comments = text.lines().map_while(|line| line.trim().strip_prefix('#'));
    comments.skip(1).filter_map(parse_note).collect()
}

/// Parses a `key: value` note.
fn parse_note(comment: &str) -> Option<(String, String)> {
    let (key, value) = comment.split_once(':')?;
    Some((key.trim().to_owned(), value.trim().to_owned()))
}

/// Renders a test as text, with a header of these notes (`harness`, `seed`, `failure` and the
/// like).
///
/// Reading it gives the same steps, remarks and notes, with these exceptions: of equal copies
/// (`*N`) the first is read; line ends in notes and remarks become blanks; a remark is dropped if
/// it would change how its line is read. The key of a note should not contain a colon.
pub fn write(catalog: &Catalog, test: &Test, notes: &[(String, String)]) -> String {
    let mut text = format!("{TITLE}{VERSION}\n");
    for (key, value) in notes {
        let note = format!("# {}: {}", one_line(key), one_line(value));
        text.push_str(note.trim_end());
        text.push('\n');
    }
    let mut remarks: BTreeMap<usize, String> = BTreeMap::new();
    for (index, remark) in &test.remarks {
        let all = remarks.entry(*index).or_default();
        *all = one_line(&format!("{all} {remark}"));
    }
    let mut labels: BTreeMap<ActionId, String> = BTreeMap::new();
    for (index, step) in test.steps.iter().enumerate() {
        let line = match step {
            Step::Restart => RESTART,
            Step::Act(action) => labels
                .entry(*action)
                .or_insert_with(|| catalog.label(*action)),
        };
        text.push_str(line);
        if let Some(remark) = remarks.get(&index)
            && !remark.is_empty()
        {
            let with_remark = format!(" {REMARK} {remark}");
            let read = read_step(catalog, &format!("{line}{with_remark}"));
            if read.is_some_and(|(_, read)| read.as_deref() == Some(remark)) {
                text.push_str(&with_remark);
            }
        }
        text.push('\n');
    }
    text
}

/// Joins the lines of a text with blanks.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

/// Parses the text of a test. Returns a problem for every unreadable line; the first
/// [`MAX_SUGGESTIONS`] problems include a suggestion.
pub fn read(catalog: &Catalog, text: &str) -> Result<SavedTest, Vec<ReadProblem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut test = SavedTest::default();
    let mut problems = Vec::new();
    let mut closest = None;
    let mut seen_anything = false;
    let mut in_header = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let number = index + 1;
        if line.is_empty() {
            in_header = false;
            continue;
        }
        if !seen_anything && let Some(version) = line.strip_prefix(TITLE) {
            check_version(version).map_err(|mut problem| {
                problem.line = number;
                problem.text = line.to_owned();
                vec![problem]
            })?;
            in_header = true;
            seen_anything = true;
            continue;
        }
        seen_anything = true;
        let comment = line.strip_prefix('#');
        in_header &= comment.is_some();
        if let Some(comment) = comment.filter(|_| in_header) {
            test.notes.extend(parse_note(comment));
            continue;
        }
        match read_step(catalog, line) {
            Some((step, remark)) => test.lines.push(SavedLine {
                step,
                remark,
                number,
            }),
            None if comment.is_some() => {}
            None => {
                let closest = (problems.len() < MAX_SUGGESTIONS)
                    .then(|| &*closest.get_or_insert_with(|| ClosestAction::new(catalog)));
                problems.push(unknown_action(catalog, closest, number, line));
            }
        }
    }
    if problems.is_empty() {
        Ok(test)
    } else {
        Err(problems)
    }
}

/// Checks the version in the first line. The caller fills in the line of the problem.
fn check_version(version: &str) -> Result<(), ReadProblem> {
    let problem = |message: String, help: &str| ReadProblem {
        line: 0,
        message,
        help: Some(help.to_owned()),
        text: String::new(),
    };
    match version.trim().parse::<u32>() {
        Ok(1..=VERSION) => Ok(()),
        Ok(newer) if newer > VERSION => Err(problem(
            format!(
                "version {newer} of the saved form is newer than version {VERSION}, the newest this program reads"
            ),
            "update testwright",
        )),
        _ => Err(problem(
            format!("`{}` is not a version of the saved form", version.trim()),
            "the first line should be `# testwright test 1`, or be left out",
        )),
    }
}

/// Describes a line that matches no action.
fn unknown_action(
    catalog: &Catalog,
    closest: Option<&ClosestAction>,
    number: usize,
    line: &str,
) -> ReadProblem {
    let text = line.split(REMARK).next().unwrap_or(line).trim();
    ReadProblem {
        line: number,
        message: format!("no action reads `{text}`"),
        help: closest
            .and_then(|closest| closest.find(text))
            .map(|action| format!("did you mean `{}`?", catalog.text(action))),
        text: line.to_owned(),
    }
}

/// Parses one line: its step and remark. The remark begins at the first `;;;` that has an action
/// before it, since an action may contain `;;;` as well. Exact matches are tried first, lenient
/// ones after.
fn read_step(catalog: &Catalog, line: &str) -> Option<(SavedStep, Option<String>)> {
    let readings = || {
        line.match_indices(REMARK)
            .take(MAX_REMARKS)
            .map(|(position, _)| {
                let remark = line[position + REMARK.len()..].trim();
                (
                    &line[..position],
                    (!remark.is_empty()).then(|| remark.to_owned()),
                )
            })
    };
    let whole = || std::iter::once((line, None));
    for (text, remark) in whole().chain(readings()) {
        if text.trim() == RESTART {
            return Some((SavedStep::Restart, remark));
        }
        let candidates = catalog.find_exactly(text);
        if !candidates.is_empty() {
            return Some((SavedStep::Act { candidates }, remark));
        }
    }
    for (text, remark) in readings().chain(whole()) {
        let candidates = catalog.find(text);
        if !candidates.is_empty() {
            return Some((SavedStep::Act { candidates }, remark));
        }
    }
    None
}

impl SavedTest {
    /// Returns true if every line stands for exactly one action, so that
    /// [`resolve`](SavedTest::resolve) runs nothing.
    pub fn is_unambiguous(&self) -> bool {
        self.lines.iter().all(|line| match &line.step {
            SavedStep::Act { candidates } => candidates.len() == 1,
            SavedStep::Restart => true,
        })
    }

    /// Resolves each line to one action.
    ///
    /// If some line stands for several actions, the test is run from the initial state. For each
    /// line the last enabled candidate is taken, as TSTL does, or the last one if none is enabled.
    /// After a failure nothing more is run, and the last candidate is taken.
    pub fn resolve<S: System + ?Sized>(&self, system: &mut S) -> Result<Test, Error> {
        let mut running = !self.is_unambiguous();
        if running {
            system.reset()?;
        }
        let mut test = Test::default();
        for line in &self.lines {
            let step = match &line.step {
                SavedStep::Restart => {
                    if running {
                        system.reset()?;
                    }
                    Step::Restart
                }
                SavedStep::Act { candidates } => {
                    let enabled = if running {
                        candidates
                            .iter()
                            .rev()
                            .find(|candidate| system.is_enabled(**candidate))
                    } else {
                        None
                    };
                    if let Some(action) = enabled {
                        match system.step(*action) {
                            Outcome::Passed | Outcome::Expected => {}
                            Outcome::Failed(_) => running = false,
                            Outcome::Interrupted => return Err(Error::new("interrupted")),
                        }
                    }
                    let Some(action) = enabled.or(candidates.last()) else {
                        continue;
                    };
                    Step::Act(*action)
                }
            };
            if let Some(remark) = &line.remark {
                test.remarks.push((test.steps.len(), remark.clone()));
            }
            test.steps.push(step);
        }
        Ok(test)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::toys::{self, Counters, Crossing, Safe};

    fn note(key: &str, value: &str) -> (String, String) {
        (key.to_owned(), value.to_owned())
    }

    /// Renders what a text means, or its problems, line by line.
    fn check(catalog: &Catalog, text: &str, expected: Expect) {
        let mut report = String::new();
        match read(catalog, text) {
            Ok(test) => {
                for (key, value) in &test.notes {
                    report += &format!("note {key} is {value}\n");
                }
                for line in &test.lines {
                    let step = match &line.step {
                        SavedStep::Restart => "restart".to_owned(),
                        SavedStep::Act { candidates } => {
                            let labels: Vec<String> = candidates
                                .iter()
                                .map(|candidate| catalog.label(*candidate))
                                .collect();
                            labels.join(" or ")
                        }
                    };
                    let remark = line.remark.as_deref().unwrap_or("no remark");
                    report += &format!("{}: {step} ({remark})\n", line.number);
                }
            }
            Err(problems) => {
                for problem in problems {
                    let help = problem.help.as_deref().unwrap_or("no help");
                    report += &format!("{}: {} ({help})\n", problem.line, problem.message);
                }
            }
        }
        expected.assert_eq(&report);
    }

    #[test]
    fn a_saved_test_is_readable() {
        let counters = Counters::new(9);
        let catalog = counters.actions();
        let action = |text: &str| Step::Act(catalog.find(text)[0]);
        let test = Test {
            steps: vec![
                action("int0 = 3"),
                action("counter1 = Counter()"),
                Step::Restart,
                action("counter1.add(int0)"),
            ],
            remarks: vec![
                (1, "a counter\nto count with".to_owned()),
                (2, "once more".to_owned()),
                (3, " ".to_owned()),
            ],
        };
        let notes = [
            note("harness", "counters.tstl"),
            note("failure", "KeyError: 3\n  at line 7"),
            note("remark", ""),
        ];
        let text = write(catalog, &test, &notes);
        expect![[r#"
            # testwright test 1
            # harness: counters.tstl
            # failure: KeyError: 3 at line 7
            # remark:
            int0 = 3
            counter1 = Counter() ;;; a counter to count with
            <<RESTART>> ;;; once more
            counter1.add(int0)
        "#]]
        .assert_eq(&text);
        let read = read(catalog, &text).unwrap();
        assert_eq!(read.notes[1], note("failure", "KeyError: 3 at line 7"));
        assert_eq!(read.notes[2], note("remark", ""));
        assert_eq!(super::notes(&text), read.notes);
        assert_eq!(super::notes("# harness: counters.tstl\n"), []);
        assert!(read.is_unambiguous());
        let resolved = read.resolve(&mut Counters::new(9)).unwrap();
        assert_eq!(resolved, test);
        assert_eq!(write(catalog, &resolved, &read.notes), text);
    }

    #[test]
    fn the_ancestors_files_are_read() {
        check(
            Counters::new(9).actions(),
            "self.p_int[0] = 3 \nself.p_counter[0] = Counter() ;;;why not\r\n<<RESTART>>\nresult = self.p_counter[0].add(self.p_int[0]) ",
            expect![[r#"
                1: int0 = 3 (no remark)
                2: counter0 = Counter() (why not)
                3: restart (no remark)
                4: counter0.add(int0) (no remark)
            "#]],
        );
    }

    #[test]
    fn blanks_comments_and_line_ends_do_not_matter() {
        check(
            Counters::new(9).actions(),
            "\u{feff}\n# testwright test 1\r\n# seed: 12: 13\r\n#no note\r\n\r\n# not: a note\r\n  int0  =  3\r\n\tint1 = 4 # four ;;; and more\r\n # indented\r\n\n",
            expect![[r#"
                note seed is 12: 13
                7: int0 = 3 (no remark)
                8: int1 = 4 (and more)
            "#]],
        );
    }

    #[test]
    fn everything_unknown_is_reported_at_once() {
        check(
            Counters::new(9).actions(),
            "int0 = 3\nint7 = 3\ncounter0.subtract(int0) ;;; why\n__import__('os').remove('x')\n",
            expect![[r#"
                2: no action reads `int7 = 3` (did you mean `int0 = 1`?)
                3: no action reads `counter0.subtract(int0)` (did you mean `counter0.add(int0)`?)
                4: no action reads `__import__('os').remove('x')` (no help)
            "#]],
        );
    }

    #[test]
    fn a_newer_form_is_refused() {
        let counters = Counters::new(9);
        check(
            counters.actions(),
            "# testwright test 2\nwhatever\n",
            expect![[r#"
                1: version 2 of the saved form is newer than version 1, the newest this program reads (update testwright)
            "#]],
        );
        check(
            counters.actions(),
            "# testwright test one\n",
            expect![[r#"
            1: `one` is not a version of the saved form (the first line should be `# testwright test 1`, or be left out)
        "#]],
        );
        check(
            counters.actions(),
            "# testwright tests are good\nint0 = 1",
            expect![[r#"
                2: int0 = 1 (no remark)
            "#]],
        );
    }

    #[test]
    fn remarks_and_actions_may_both_contain_the_mark() {
        let catalog = toys::catalog(&[], &["say(';;;')", "f()"]);
        let test = Test {
            steps: vec![Step::Act(ActionId(0)), Step::Act(ActionId(1))],
            remarks: vec![(0, "a;;;b".to_owned()), (1, ";;; # c".to_owned())],
        };
        let text = write(&catalog, &test, &[]);
        check(
            &catalog,
            &text,
            expect![[r#"
            2: say(';;;') (a;;;b)
            3: f() (;;; # c)
        "#]],
        );
    }

    #[test]
    fn a_remark_never_changes_what_a_line_means() {
        let catalog = toys::catalog(&[], &["f()", "f() ;;; g()"]);
        let test = Test {
            steps: vec![Step::Act(ActionId(0))],
            remarks: vec![(0, "g()".to_owned())],
        };
        let text = write(&catalog, &test, &[]);
        check(
            &catalog,
            &text,
            expect![[r#"
            2: f() (no remark)
        "#]],
        );
    }

    #[test]
    fn of_several_candidates_the_last_enabled_one_is_meant() {
        let mut system = Crossing::default();
        let text =
            "go()\nswitch()\ngo()\n<<RESTART>>\ngo()\nswitch()\ngo()\ngo()\nswitch()\ngo()\n";
        let test = read(system.actions(), text).unwrap();
        assert!(!test.is_unambiguous());
        let test = test.resolve(&mut system).unwrap();
        use Crossing as C;
        assert_eq!(
            test.steps,
            [
                Step::Act(C::GO_AT_GREEN),
                Step::Act(C::SWITCH),
                Step::Act(C::GO_AT_RED),
                Step::Restart,
                Step::Act(C::GO_AT_GREEN),
                Step::Act(C::SWITCH),
                Step::Act(C::GO_AT_RED),
                // Here it fails, and the rest is not run.
                Step::Act(C::GO_AT_RED),
                Step::Act(C::SWITCH),
                Step::Act(C::GO_AT_RED),
            ]
        );
        let text = write(system.actions(), &test, &[]);
        let again = read(system.actions(), &text).unwrap();
        assert!(again.is_unambiguous());
        assert_eq!(again.resolve(&mut system).unwrap(), test);
    }

    /// Three lines with the same text. The first two are enabled.
    struct SameTextSystem(Catalog);

    impl System for SameTextSystem {
        fn actions(&self) -> &Catalog {
            &self.0
        }

        fn reset(&mut self) -> Result<(), Error> {
            Ok(())
        }

        fn is_enabled(&mut self, action: ActionId) -> bool {
            action < ActionId(2)
        }

        fn step(&mut self, _: ActionId) -> Outcome {
            Outcome::Passed
        }

        fn check(&mut self) -> Outcome {
            Outcome::Passed
        }
    }

    #[test]
    fn of_several_enabled_candidates_the_last_is_meant() {
        let mut system = SameTextSystem(toys::catalog(&[], &["a -> f()", "b -> f()", "c -> f()"]));
        let test = read(system.actions(), "f()\nf()  #1\n").unwrap();
        assert_eq!(
            test.resolve(&mut system).unwrap(),
            Test::from_actions([ActionId(1), ActionId(0)])
        );
    }

    #[test]
    fn only_the_first_of_many_unknown_lines_get_a_suggestion() {
        let counters = Counters::new(9);
        let text = "int7 = 3\n".repeat(MAX_SUGGESTIONS + 5);
        let problems = read(counters.actions(), &text).unwrap_err();
        let helped = |problem: &ReadProblem| problem.help.is_some();
        assert_eq!(problems.len(), MAX_SUGGESTIONS + 5);
        assert!(problems[..MAX_SUGGESTIONS].iter().all(helped));
        assert!(!problems[MAX_SUGGESTIONS..].iter().any(helped));
    }

    #[test]
    fn resolving_a_settled_test_runs_nothing() {
        let mut safe = Safe::new(9, &[3, 1]);
        let test = read(safe.actions(), "press(1)").unwrap();
        // Pressed before, and not reset by resolving.
        safe.step(ActionId(3));
        assert_eq!(
            test.resolve(&mut safe).unwrap(),
            Test::from_actions([ActionId(1)])
        );
        assert!(matches!(safe.step(ActionId(1)), Outcome::Failed(_)));
    }
}
