//! The report of `testwright mutate`.

use serde_json::json;
use testwright_capture::inspect::ProjectModule;
use testwright_capture::mutate::Mutant;
use testwright_capture::mutate::run::{MutantId, MutantVerdict, MutatedFile, TestMeasurements};
use testwright_core::verdict::{ReachedLimit, Verdict, VerdictExtent};

use crate::console::{Console, TextStyle};
use crate::quantity;
use crate::verdict_text::{self, Claim, VerdictJson};

/// Maximum number of tests or modules that are named.
const MAX_NAMED: usize = 3;

/// Everything that is reported. Modules and files have the same indices.
pub(super) struct MutationReport<'a> {
    pub(super) modules: &'a [&'a ProjectModule],
    pub(super) files: &'a [MutatedFile],
    /// Tests, and the lines that they reach without any mutant.
    pub(super) measured: &'a TestMeasurements,
    /// Mutants that were tried, with their verdicts.
    pub(super) verdicts: &'a [(MutantId, MutantVerdict)],
    /// True if mutants that no test reaches count as survivors.
    pub(super) counts_all_lines: bool,
    /// True if modules that no test reaches are in the table, too.
    pub(super) shows_all_modules: bool,
    /// Seed of the random choice of mutants.
    pub(super) seed: u64,
    /// True if the user stopped it.
    pub(super) is_interrupted: bool,
}

/// Numbers of mutants in a module, or in all of them.
#[derive(Clone, Copy, Default)]
struct MutantCounts {
    /// All mutants.
    mutants: usize,
    /// Mutants that no test reaches.
    not_covered: usize,
    /// Mutants that were run.
    tried: usize,
    /// Mutants that made a test fail, hang or crash.
    noticed: usize,
    /// Mutants that no test noticed.
    survived: usize,
}

impl MutantCounts {
    /// Returns the percentage of mutants that were noticed. 100 means all, and 0 means none: other
    /// numbers are not rounded to these.
    fn noticed_percentage(self) -> Option<usize> {
        let judged = self.noticed + self.survived;
        let rounded = (self.noticed * 200 + judged).checked_div(judged * 2)?;
        Some(match (self.noticed, self.survived) {
            (0, _) | (_, 0) => rounded,
            _ => rounded.clamp(1, 99),
        })
    }

    /// Adds two sets of numbers.
    fn plus(self, other: MutantCounts) -> MutantCounts {
        MutantCounts {
            mutants: self.mutants + other.mutants,
            not_covered: self.not_covered + other.not_covered,
            tried: self.tried + other.tried,
            noticed: self.noticed + other.noticed,
            survived: self.survived + other.survived,
        }
    }

    /// Returns the cells of a row of the table.
    fn cells(self, name: &str) -> [String; 7] {
        let share = self.noticed_percentage().map(|share| format!("{share}%"));
        [
            name.to_owned(),
            quantity::grouped(self.mutants as u64),
            quantity::grouped(self.not_covered as u64),
            quantity::grouped(self.tried as u64),
            quantity::grouped(self.noticed as u64),
            quantity::grouped(self.survived as u64),
            share.unwrap_or_else(|| "-".to_owned()),
        ]
    }
}

/// Titles of the columns.
const TITLES: [&str; 7] = [
    "module",
    "mutants",
    "not covered",
    "tried",
    "noticed",
    "survived",
    "share",
];

impl<'a> MutationReport<'a> {
    /// Prints the report.
    pub(super) fn print(&self, console: &mut Console<'_>, is_sample: bool) {
        let tests = quantity::format_count(self.measured.tests.len() as u64, "test");
        let skipped = match self.measured.skipped {
            0 => String::new(),
            skipped => format!("; skipped: {skipped}"),
        };
        console.out(match self.measured.tests.len() {
            1 => format!("{tests} passes without any mutant{skipped}"),
            _ => format!("{tests} pass without any mutant{skipped}"),
        });
        let counts: Vec<MutantCounts> = (0..self.files.len())
            .map(|file| self.counts(file))
            .collect();
        let (mut rows, mut unreached) = (Vec::new(), Vec::new());
        let total = self.total();
        for (module, counts) in self.modules.iter().zip(&counts) {
            if self.is_counted(counts) {
                rows.push(counts.cells(&module.name));
            } else if counts.mutants > 0 {
                unreached.push(module.name.as_str());
            }
        }
        if rows.len() > 1 {
            rows.push(total.cells("all"));
        }
        if !rows.is_empty() {
            print_table(console, &rows);
        }
        for (id, verdict) in self.survivors() {
            self.print_survivor(console, *id, verdict);
        }
        if !unreached.is_empty() {
            let number = quantity::format_count(unreached.len() as u64, "module");
            console.out("");
            console.out(format!(
                "{number} that no test reaches: {}",
                join_first_names(&unreached)
            ));
        }
        let verdict = self.verdict();
        if !verdict.limits().is_empty() && !is_sample {
            console.err(format!(
                "{} of {} mutants were tried, chosen by seed {}; `--sample` sets how many",
                quantity::grouped(total.tried as u64),
                quantity::grouped(self.wanted(total) as u64),
                self.seed
            ));
        }
        if total.survived > 0 && unreached.is_empty() {
            console.out("");
        }
        let text = match (total.tried as u64, total.survived as u64) {
            (tried, 0) => Claim::MutantsNoticed(tried).text(&verdict),
            (tried, survived) => {
                let tried = quantity::format_count(tried, "mutant");
                format!("{} of {tried} survived", quantity::grouped(survived))
            }
        };
        let wanted = self.wanted(total);
        let numbers = [
            (wanted - total.tried, "that tests reach"),
            (total.mutants - wanted, "on lines that no test reaches"),
        ];
        let parts = numbers.iter().filter(|(number, _)| *number > 0);
        let parts = parts.map(|(number, place)| {
            let mutants = quantity::format_count(*number as u64, "mutant");
            format!("{mutants} {place}")
        });
        let untried: Vec<String> = parts.collect();
        let untried = match untried.as_slice() {
            [] => String::new(),
            parts => format!("; not tried: {}", parts.join(", ")),
        };
        console.out(verdict_text::with_limits(&text, &verdict) + &untried);
    }

    /// Returns the answer to the question whether the tests notice all mutants that they reach.
    fn verdict(&self) -> Verdict {
        let total = self.total();
        if self.is_interrupted {
            return Verdict::new(VerdictExtent::Interrupted);
        }
        let is_cut = total.tried < self.wanted(total);
        let limit = is_cut.then_some(ReachedLimit::Mutants(total.tried as u64));
        Verdict::bounded_by(limit.into_iter().collect())
    }

    /// Returns the number of mutants to try without any limit.
    fn wanted(&self, total: MutantCounts) -> usize {
        if self.counts_all_lines {
            total.mutants
        } else {
            total.mutants - total.not_covered
        }
    }

    /// Returns true if a module is in the table.
    fn is_counted(&self, counts: &MutantCounts) -> bool {
        let is_reached = counts.not_covered < counts.mutants;
        is_reached || self.shows_all_modules || (self.counts_all_lines && counts.mutants > 0)
    }

    /// Returns the numbers of all modules in the table.
    fn total(&self) -> MutantCounts {
        let all = (0..self.files.len()).map(|file| self.counts(file));
        all.filter(|counts| self.is_counted(counts))
            .fold(MutantCounts::default(), MutantCounts::plus)
    }

    /// Returns true if a mutant was tried.
    pub(super) fn has_tried_any(&self) -> bool {
        self.total().tried > 0
    }

    /// Prints a surviving mutant: its lines before and after, and the tests that reach it.
    fn print_survivor(&self, console: &mut Console<'_>, id: MutantId, verdict: &MutantVerdict) {
        let Some((file, mutant)) = self.mutant(id) else {
            return;
        };
        let path = self.path(id.0);
        let (before, after) = mutant.preview(&file.text);
        let position = format!("{path}:{}:{}", mutant.line, mutant.column);
        let heading = format!(
            "{}: {}",
            console.paint(TextStyle::Bold, position),
            mutant.kind
        );
        console.out("");
        console.out(heading);
        let before = console.paint(TextStyle::Failure, format!("  - {}", before.trim_start()));
        console.out(before);
        let after = console.paint(TextStyle::Success, format!("  + {}", after.trim_start()));
        console.out(after);
        if *verdict == MutantVerdict::NotReached {
            console.out("  no test reaches it");
            return;
        }
        let names = self.measured.test_names_reaching(id.0, mutant);
        let number = quantity::format_count(names.len() as u64, "test");
        let named: Vec<&str> = names.iter().copied().take(MAX_NAMED).collect();
        let more = if names.len() > MAX_NAMED { ", …" } else { "" };
        let line = format!("  reached by {number}: {}{more}", named.join(", "));
        console.out(console.paint(TextStyle::Dim, line));
    }

    /// Returns the report for tools. Its keys must not change.
    pub(super) fn json(&self) -> String {
        let files = 0..self.files.len();
        let modules: Vec<serde_json::Value> = files
            .zip(self.modules)
            .map(|(file, module)| {
                let counts = self.counts(file);
                json!({
                    "module": module.name,
                    "path": module.path,
                    "mutants": counts.mutants,
                    "not_covered": counts.not_covered,
                    "tried": counts.tried,
                    "noticed": counts.noticed,
                    "survived": counts.survived,
                })
            })
            .collect();
        let mutants: Vec<serde_json::Value> = self
            .verdicts
            .iter()
            .filter_map(|(id, verdict)| {
                let (file, mutant) = self.mutant(*id)?;
                let (before, after) = mutant.preview(&file.text);
                let (name, by, message) = match verdict {
                    MutantVerdict::Noticed { by, message } => {
                        ("noticed", by.as_deref(), message.as_str())
                    }
                    MutantVerdict::Hung => ("hang", None, ""),
                    MutantVerdict::Crashed(how) => ("crash", None, how.as_str()),
                    MutantVerdict::Survived => ("survived", None, ""),
                    MutantVerdict::NotReached => ("not covered", None, ""),
                };
                let survived = *verdict == MutantVerdict::Survived;
                let tests = survived.then(|| self.measured.test_names_reaching(id.0, mutant));
                Some(json!({
                    "path": self.path(id.0),
                    "line": mutant.line,
                    "column": mutant.column,
                    "kind": mutant.kind.name(),
                    "before": before,
                    "after": after,
                    "verdict": name,
                    "noticed_by": by,
                    "message": message,
                    "tests": tests,
                }))
            })
            .collect();
        let mut report = json!(VerdictJson::from(&self.verdict()));
        let numbers = json!({
            "tests": self.measured.tests.len(),
            "skipped": self.measured.skipped,
            "seed": self.seed,
            "modules": modules,
            "mutants": mutants,
        });
        if let (Some(report), serde_json::Value::Object(numbers)) =
            (report.as_object_mut(), numbers)
        {
            report.extend(numbers);
        }
        report.to_string()
    }

    /// Returns the mutants that the tests do not notice.
    pub(super) fn survivors(&self) -> impl Iterator<Item = &'a (MutantId, MutantVerdict)> {
        let counts_all_lines = self.counts_all_lines;
        self.verdicts
            .iter()
            .filter(move |(_, verdict)| match verdict {
                MutantVerdict::Survived => true,
                MutantVerdict::NotReached => counts_all_lines,
                _ => false,
            })
    }

    /// Counts the mutants of a file.
    fn counts(&self, file: usize) -> MutantCounts {
        let mutants = self.files.get(file).map_or(&[][..], |found| &found.mutants);
        let is_not_covered = |mutant: &&Mutant| !self.measured.is_reached(file, mutant);
        let of_file = || {
            let all = self.verdicts.iter();
            all.filter(move |((number, _), _)| *number == file)
        };
        let survivors = self.survivors();
        let found_unreachable = of_file().filter(|(id, verdict)| {
            let is_reached =
                |(_, mutant): (&MutatedFile, &Mutant)| self.measured.is_reached(file, mutant);
            *verdict == MutantVerdict::NotReached && self.mutant(*id).is_some_and(is_reached)
        });
        let found_unreachable = found_unreachable.count();
        MutantCounts {
            mutants: mutants.len(),
            // Some turn out to be unreachable only when they are tried.
            not_covered: mutants.iter().filter(is_not_covered).count() + found_unreachable,
            tried: if self.counts_all_lines {
                of_file().count()
            } else {
                of_file().count() - found_unreachable
            },
            noticed: of_file()
                .filter(|(_, verdict)| verdict.is_noticed())
                .count(),
            survived: survivors.filter(|((number, _), _)| *number == file).count(),
        }
    }

    /// Returns a mutant and its file.
    fn mutant(&self, (file, number): MutantId) -> Option<(&'a MutatedFile, &'a Mutant)> {
        let file = self.files.get(file)?;
        Some((file, file.mutants.get(number)?))
    }

    /// Returns the path of a file.
    fn path(&self, file: usize) -> String {
        let module = self.modules.get(file);
        module.map_or_else(String::new, |module| module.path.display().to_string())
    }
}

/// Joins the first of some names.
fn join_first_names(names: &[&str]) -> String {
    let named: Vec<&str> = names.iter().copied().take(MAX_NAMED).collect();
    let more = if names.len() > MAX_NAMED { ", …" } else { "" };
    named.join(", ") + more
}

/// Prints the table: names aligned to the left, numbers to the right.
fn print_table(console: &mut Console<'_>, rows: &[[String; 7]]) {
    let length = |text: &str| text.chars().count();
    let widths: [usize; 7] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| length(&row[column]));
        cells.chain([length(TITLES[column])]).max().unwrap_or(0)
    });
    let line = |cells: [&str; 7]| {
        let padded = (0..7).map(|column| {
            let (cell, width) = (cells[column], widths[column]);
            match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            }
        });
        padded.collect::<Vec<_>>().join("  ")
    };
    let titles = console.paint(TextStyle::Bold, line(TITLES));
    console.out(titles);
    for row in rows {
        console.out(line(row.each_ref().map(String::as_str)));
    }
}
