//! What came of the mutants.

use serde_json::json;
use testwright_capture::inspect::Module;
use testwright_capture::mutate::Mutant;
use testwright_capture::mutate::run::{File, Measured, MutantId, Verdict};

use crate::console::{Console, Look};
use crate::quantity;

/// More tests or modules than this are not named one by one.
const MOST_NAMED: usize = 3;

/// All that is known. Modules and files have the same numbers.
pub(super) struct Report<'a> {
    pub(super) modules: &'a [&'a Module],
    pub(super) files: &'a [File],
    pub(super) measured: &'a Measured,
    pub(super) verdicts: &'a [(MutantId, Verdict)],
    /// Mutants that no test reaches have survived.
    pub(super) counts_all_lines: bool,
    /// Also modules that no test reaches.
    pub(super) shows_all_modules: bool,
    pub(super) seed: u64,
}

/// The numbers of a module, or of all.
#[derive(Clone, Copy, Default)]
struct Counts {
    mutants: usize,
    not_covered: usize,
    tried: usize,
    noticed: usize,
    survived: usize,
}

impl Counts {
    /// How many of a hundred were noticed, rounded down: only all are all.
    fn share(self) -> Option<usize> {
        (self.noticed * 100).checked_div(self.noticed + self.survived)
    }

    fn plus(self, other: Counts) -> Counts {
        Counts {
            mutants: self.mutants + other.mutants,
            not_covered: self.not_covered + other.not_covered,
            tried: self.tried + other.tried,
            noticed: self.noticed + other.noticed,
            survived: self.survived + other.survived,
        }
    }

    fn cells(self, name: &str) -> [String; 7] {
        let share = self.share().map(|share| format!("{share}%"));
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

const TITLES: [&str; 7] = [
    "module",
    "mutants",
    "not covered",
    "tried",
    "noticed",
    "survived",
    "share",
];

impl<'a> Report<'a> {
    /// The report for people.
    pub(super) fn tell(&self, console: &mut Console<'_>, is_sample: bool) {
        let tests = quantity::of(self.measured.tests.len() as u64, "test");
        console.say(match self.measured.tests.len() {
            1 => format!("{tests} passes without any mutant"),
            _ => format!("{tests} pass without any mutant"),
        });
        let counts: Vec<Counts> = (0..self.files.len())
            .map(|file| self.counts(file))
            .collect();
        let (mut rows, mut unreached) = (Vec::new(), Vec::new());
        let mut total = Counts::default();
        for (module, counts) in self.modules.iter().zip(&counts) {
            let is_reached = counts.not_covered < counts.mutants;
            if is_reached || self.shows_all_modules {
                rows.push(counts.cells(&module.name));
                total = total.plus(*counts);
            } else if counts.mutants > 0 {
                unreached.push(module.name.as_str());
            }
        }
        if rows.len() > 1 {
            rows.push(total.cells("all"));
        }
        if !rows.is_empty() {
            say_table(console, &rows);
        }
        for (id, verdict) in self.survivors() {
            self.tell_survivor(console, *id, verdict);
        }
        if !unreached.is_empty() {
            let number = quantity::of(unreached.len() as u64, "module");
            console.say("");
            console.say(format!(
                "{number} that no test reaches: {}",
                some(&unreached)
            ));
        }
        let coverable = if self.counts_all_lines {
            total.mutants
        } else {
            total.mutants - total.not_covered
        };
        if total.tried < coverable && !is_sample {
            console.tell(format!(
                "{} of {} mutants were tried, chosen by seed {}; `--sample` sets how many",
                quantity::grouped(total.tried as u64),
                quantity::grouped(coverable as u64),
                self.seed
            ));
        }
        if total.survived > 0 && unreached.is_empty() {
            console.say("");
        }
        console.say(match (total.tried, total.survived) {
            (tried, 0) => format!("all of {} noticed", quantity::of(tried as u64, "mutant")),
            (tried, survived) => {
                let tried = quantity::of(tried as u64, "mutant");
                format!("{} of {tried} survived", quantity::grouped(survived as u64))
            }
        });
    }

    fn tell_survivor(&self, console: &mut Console<'_>, id: MutantId, verdict: &Verdict) {
        let Some((file, mutant)) = self.mutant(id) else {
            return;
        };
        let path = self.path(id.0);
        let (before, after) = mutant.shown(&file.text);
        let place = format!("{path}:{}:{}", mutant.line, mutant.column);
        let heading = format!("{}: {}", console.paint(Look::Strong, place), mutant.kind);
        console.say("");
        console.say(heading);
        let before = console.paint(Look::Bad, format!("  - {}", before.trim_start()));
        console.say(before);
        let after = console.paint(Look::Good, format!("  + {}", after.trim_start()));
        console.say(after);
        if *verdict == Verdict::NotReached {
            console.say("  no test reaches it");
            return;
        }
        let names = self.measured.names_reaching(id.0, mutant);
        let number = quantity::of(names.len() as u64, "test");
        let named: Vec<&str> = names.iter().copied().take(MOST_NAMED).collect();
        let more = if names.len() > MOST_NAMED {
            ", …"
        } else {
            ""
        };
        let line = format!("  reached by {number}: {}{more}", named.join(", "));
        console.say(console.paint(Look::Quiet, line));
    }

    /// The report for tools.
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
                let (before, after) = mutant.shown(&file.text);
                let (name, by, message) = match verdict {
                    Verdict::Noticed { by, message } => {
                        ("noticed", by.as_deref(), message.as_str())
                    }
                    Verdict::Hung => ("hang", None, ""),
                    Verdict::Crashed(how) => ("crash", None, how.as_str()),
                    Verdict::Survived => ("survived", None, ""),
                    Verdict::NotReached => ("not covered", None, ""),
                };
                let survived = *verdict == Verdict::Survived;
                let tests = survived.then(|| self.measured.names_reaching(id.0, mutant));
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
        json!({
            "tests": self.measured.tests.len(),
            "skipped": self.measured.skipped,
            "seed": self.seed,
            "modules": modules,
            "mutants": mutants,
        })
        .to_string()
    }

    /// Mutants that the tests do not notice.
    pub(super) fn survivors(&self) -> impl Iterator<Item = &'a (MutantId, Verdict)> {
        let counts_all_lines = self.counts_all_lines;
        self.verdicts
            .iter()
            .filter(move |(_, verdict)| match verdict {
                Verdict::Survived => true,
                Verdict::NotReached => counts_all_lines,
                _ => false,
            })
    }

    fn counts(&self, file: usize) -> Counts {
        let mutants = self.files.get(file).map_or(&[][..], |found| &found.mutants);
        let is_not_covered = |mutant: &&Mutant| !self.measured.is_reached(file, mutant);
        let of_file = || {
            let all = self.verdicts.iter();
            all.filter(move |((number, _), _)| *number == file)
        };
        let survivors = self.survivors();
        let lost = of_file().filter(|(id, verdict)| {
            let is_reached = |(_, mutant): (&File, &Mutant)| self.measured.is_reached(file, mutant);
            *verdict == Verdict::NotReached && self.mutant(*id).is_some_and(is_reached)
        });
        let lost = lost.count();
        Counts {
            mutants: mutants.len(),
            // Some are only seen to be out of reach when they are tried.
            not_covered: mutants.iter().filter(is_not_covered).count() + lost,
            tried: if self.counts_all_lines {
                of_file().count()
            } else {
                of_file().count() - lost
            },
            noticed: of_file()
                .filter(|(_, verdict)| verdict.is_noticed())
                .count(),
            survived: survivors.filter(|((number, _), _)| *number == file).count(),
        }
    }

    fn mutant(&self, (file, number): MutantId) -> Option<(&'a File, &'a Mutant)> {
        let file = self.files.get(file)?;
        Some((file, file.mutants.get(number)?))
    }

    fn path(&self, file: usize) -> String {
        let module = self.modules.get(file);
        module.map_or_else(String::new, |module| module.path.display().to_string())
    }
}

/// The first of some names.
fn some(names: &[&str]) -> String {
    let named: Vec<&str> = names.iter().copied().take(MOST_NAMED).collect();
    let more = if names.len() > MOST_NAMED {
        ", …"
    } else {
        ""
    };
    named.join(", ") + more
}

/// Names begin below each other, numbers end there.
fn say_table(console: &mut Console<'_>, rows: &[[String; 7]]) {
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
    let titles = console.paint(Look::Strong, line(TITLES));
    console.say(titles);
    for row in rows {
        console.say(line(row.each_ref().map(String::as_str)));
    }
}
