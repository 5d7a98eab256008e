//! `testwright measure`: how readable a text is.

use std::path::{Path, PathBuf};

use testwright_readable::block::NORMAL;
use testwright_readable::explain::Options;
use testwright_readable::measure::{self, Figures};
use testwright_readable::render;

use crate::console::Console;
use crate::explaining::{explained, parted, vocabulary};
use crate::files::TextFile;
use crate::{ExitStatus, Trouble, quantity};

/// Tell how readable explanations and features are, in figures
///
/// A model or a harness is explained first, and its explanation measured; anything else is measured as it is. Each figure
/// comes with what a text for people should reach.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright measure plates.py tree.tstl
  testwright measure tree.tstl --names words.idioms
  testwright measure features/*.feature --check       exit status 1 if a figure is not reached"
)]
pub(crate) struct Measure {
    /// Models, harnesses, features, texts
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,

    /// Words for names, and idioms; can be given several times, the first has the first word
    #[arg(long, value_name = "FILE")]
    names: Vec<PathBuf>,

    /// Make a figure that is not reached a failure
    #[arg(long)]
    check: bool,
}

impl Measure {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let vocabulary = vocabulary(console, &self.names)?;
        let options = Options {
            vocabulary,
            ..Options::default()
        };
        let mut all_reached = true;
        for (number, argument) in self.files.iter().enumerate() {
            let (path, machine) = parted(argument);
            let options = Options {
                machine,
                ..options.clone()
            };
            let figures = figures(console, &path, &options)?;
            if number > 0 {
                console.say("");
            }
            let rows = rows(&figures, &path, !self.names.is_empty());
            let size = quantity::of(figures.sentences as u64, "sentence");
            console.say(format_args!("{}: {size}", path.display()));
            for row in &rows {
                console.say(row.text(rows.iter().map(|one| one.name.len()).max().unwrap_or(0)));
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

fn figures(console: &mut Console<'_>, path: &Path, options: &Options) -> Result<Figures, Trouble> {
    let ending = path.extension().unwrap_or_default();
    if ending != "py" && ending != "tstl" {
        return Ok(measure::text(&TextFile::read(path)?.text));
    }
    let told = explained(console, path, options)?;
    let document = told.document.shown_at(NORMAL);
    let text = render::text(&document);
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    Ok(measure::document(&document, lines, told.phrased()))
}

/// One figure, and what it should be.
struct Row {
    name: &'static str,
    figure: String,
    target: String,
    is_reached: bool,
}

impl Row {
    fn most(name: &'static str, figure: f64, most: f64, digits: usize) -> Row {
        Row {
            name,
            figure: format!("{figure:.digits$}"),
            target: format!("at most {most}"),
            is_reached: figure <= most + 1e-9,
        }
    }

    fn least(name: &'static str, figure: f64, least: f64, unit: &str) -> Row {
        Row {
            name,
            figure: format!("{figure:.0}{unit}"),
            target: format!("at least {least}{unit}"),
            is_reached: figure >= least - 1e-9,
        }
    }

    fn text(&self, width: usize) -> String {
        let mark = if self.is_reached { "" } else { "  not reached" };
        let Row {
            name,
            figure,
            target,
            ..
        } = self;
        format!("  {name:width$}  {figure:>6}  ({target}){mark}")
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "nobody writes sentences of that many words"
)]
fn rows(figures: &Figures, path: &Path, has_names: bool) -> Vec<Row> {
    let is_harness = path.extension().is_some_and(|ending| ending == "tstl");
    // At most 2 in 100 sentences.
    let leaks = figures.sentences as f64 / 50.0;
    let mut rows = vec![Row::most(
        "code leaks",
        figures.leaks as f64,
        leaks.floor(),
        0,
    )];
    rows.extend(figures.lines_per_line.map(|lines| {
        let most = if is_harness { 3.5 } else { 1.5 };
        Row::most("lines per line of source", lines, most, 1)
    }));
    rows.extend([
        Row::least("reading ease", figures.ease, 65.0, ""),
        Row::most(
            "longest sentence, in words",
            figures.longest as f64,
            35.0,
            0,
        ),
        Row::most("look-backs per sentence", figures.look_backs, 0.1, 2),
        Row::most("\"of\" in one sentence", figures.of_depth as f64, 4.0, 0),
    ]);
    rows.extend(figures.coverage.map(|share| {
        let least = if has_names { 90.0 } else { 70.0 };
        Row::least("words of their own", share, least, "%")
    }));
    rows.extend(
        figures
            .traceable
            .map(|share| Row::least("sentences with a source", share, 100.0, "%")),
    );
    rows
}
