//! `testwright measure`: figures on how readable a text is.

use std::path::{Path, PathBuf};

use testwright_readable::block::NORMAL;
use testwright_readable::explain::Options;
use testwright_readable::measure::{self, ReadabilityFigures};
use testwright_readable::render;

use crate::console::Console;
use crate::explanation::{explain_file, split_name, vocabulary};
use crate::files::TextFile;
use crate::{CommandError, ExitStatus, quantity};

/// Measure how readable explanations and features are
///
/// A model or a harness is explained first, and its explanation is measured. Any other text is measured as it
/// is. Each figure is shown with its target.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright measure plates.py tree.tstl
  testwright measure tree.tstl --names words.idioms
  testwright measure features/*.feature --check       exit status 1 if a target is not reached

Exit status: 0 measured, 1 a target of `--check` is not reached, 2 could not do what was asked."
)]
pub(crate) struct MeasureCommand {
    /// Models, harnesses, features and other texts
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,

    /// File with words for names, and idioms; repeatable, the first one wins
    #[arg(long, value_name = "FILE")]
    names: Vec<PathBuf>,

    /// End with exit status 1 if a target is not reached
    #[arg(long)]
    check: bool,
}

impl MeasureCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let vocabulary = vocabulary(console, &self.names)?;
        let options = Options {
            vocabulary,
            ..Options::default()
        };
        let mut all_reached = true;
        for (number, argument) in self.files.iter().enumerate() {
            let (path, machine) = split_name(argument);
            let options = Options {
                machine,
                ..options.clone()
            };
            let figures = figures(console, &path, &options)?;
            if number > 0 {
                console.out("");
            }
            let rows = rows(&figures, &path, !self.names.is_empty());
            let size = quantity::format_count(figures.sentences as u64, "sentence");
            console.out(format_args!("{}: {size}", path.display()));
            for row in &rows {
                console.out(row.text(rows.iter().map(|one| one.name.len()).max().unwrap_or(0)));
                all_reached &= row.is_reached;
            }
        }
        Ok(if self.check && !all_reached {
            ExitStatus::FailureFound
        } else {
            ExitStatus::NothingFound
        })
    }
}

/// Measures a file. Models and harnesses are explained first.
fn figures(
    console: &mut Console<'_>,
    path: &Path,
    options: &Options,
) -> Result<ReadabilityFigures, CommandError> {
    let ending = path.extension().unwrap_or_default();
    if ending != "py" && ending != "tstl" {
        return Ok(measure::text(&TextFile::read(path)?.text));
    }
    let explanation = explain_file(console, path, options)?;
    let document = explanation.document.at_verbosity(NORMAL);
    let text = render::text(&document);
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    Ok(measure::document(&document, lines, explanation.phrased()))
}

/// A figure, and the target that it should reach.
struct FigureRow {
    name: &'static str,
    /// The measured figure.
    figure: String,
    /// The target in words.
    target: String,
    is_reached: bool,
}

impl FigureRow {
    /// Returns a row whose figure should not exceed a limit.
    fn at_most(name: &'static str, figure: f64, limit: f64, digits: usize) -> FigureRow {
        FigureRow {
            name,
            figure: format!("{figure:.digits$}"),
            target: format!("at most {limit}"),
            is_reached: figure <= limit + 1e-9,
        }
    }

    /// Returns a row whose figure should reach a limit.
    fn at_least(name: &'static str, figure: f64, limit: f64, unit: &str) -> FigureRow {
        FigureRow {
            name,
            figure: format!("{figure:.0}{unit}"),
            target: format!("at least {limit}{unit}"),
            is_reached: figure >= limit - 1e-9,
        }
    }

    /// Formats the row, with the name padded to `width`.
    fn text(&self, width: usize) -> String {
        let mark = if self.is_reached { "" } else { "  not reached" };
        let FigureRow {
            name,
            figure,
            target,
            ..
        } = self;
        format!("  {name:width$}  {figure:>6}  ({target}){mark}")
    }
}

/// Returns the rows of all figures that apply to the file.
#[allow(
    clippy::cast_precision_loss,
    reason = "sentences have far fewer words than f64 can count"
)]
fn rows(figures: &ReadabilityFigures, path: &Path, has_names: bool) -> Vec<FigureRow> {
    let is_harness = path.extension().is_some_and(|ending| ending == "tstl");
    // At most 2 in 100 sentences.
    let leaks = figures.sentences as f64 / 50.0;
    let mut rows = vec![FigureRow::at_most(
        "code leaks",
        figures.leaks as f64,
        leaks.floor(),
        0,
    )];
    rows.extend(figures.lines_per_line.map(|lines| {
        let most = if is_harness { 3.5 } else { 1.5 };
        FigureRow::at_most("lines per line of source", lines, most, 1)
    }));
    rows.extend([
        FigureRow::at_least("reading ease", figures.ease, 65.0, ""),
        FigureRow::at_most(
            "longest sentence, in words",
            figures.longest as f64,
            35.0,
            0,
        ),
        FigureRow::at_most("look-backs per sentence", figures.look_backs, 0.1, 2),
        FigureRow::at_most("\"of\" in one sentence", figures.of_depth as f64, 4.0, 0),
    ]);
    rows.extend(figures.coverage.map(|share| {
        let least = if has_names { 90.0 } else { 70.0 };
        FigureRow::at_least("words of their own", share, least, "%")
    }));
    rows.extend(
        figures
            .traceable
            .map(|share| FigureRow::at_least("sentences with a source", share, 100.0, "%")),
    );
    rows
}
