//! `testwright expand`: what a harness stands for.

use std::path::PathBuf;

use testwright_core::{ActionId, Axis, Catalog, Choice, Piece, Template, TemplateId};
use testwright_lang::Harness;

use crate::console::Console;
use crate::{ExitStatus, Trouble, load, quantity, report};

/// Show the actions that a harness stands for
///
/// A line such as `<stack>.push(<int>)` is a template: with 2 stacks and 4 integers it stands for
/// 8 actions. Nothing of the system under test is imported or run.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright expand stack.tstl                    the templates, with their line and number of actions
  testwright expand stack.tstl --count            how many actions there are
  testwright expand stack.tstl --actions | head   the texts of the first ten actions"
)]
pub(crate) struct Expand {
    /// The harness
    file: PathBuf,

    #[command(flatten)]
    form: Form,
}

#[derive(clap::Args)]
#[group(multiple = false)]
struct Form {
    /// One line per template (this is the default)
    #[arg(long)]
    templates: bool,

    /// Only how many actions there are
    #[arg(long)]
    count: bool,

    /// One line per action
    #[arg(long)]
    actions: bool,
}

impl Expand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, Trouble> {
        let harness = load::harness_to_look_at(console, &self.file)?;
        let catalog = &harness.catalog;
        if self.form.count {
            say_count(console, &harness);
        } else if self.form.actions {
            say_actions(console, catalog);
        } else {
            say_templates(console, catalog);
        }
        Ok(ExitStatus::NothingFound)
    }
}

/// The number first and bare, for `cut -d' ' -f1`.
fn say_count(console: &mut Console<'_>, harness: &Harness) {
    let actions = harness.catalog.len();
    let noun = if actions == 1 { "action" } else { "actions" };
    let lines = quantity::of(report::action_lines(harness), "line");
    console.say(format_args!("{actions} {noun} from {lines}"));
}

fn say_actions(console: &mut Console<'_>, catalog: &Catalog) {
    for number in 0..catalog.len() {
        if console.is_closed() {
            break;
        }
        console.say(catalog.text(ActionId(number)));
    }
}

fn say_templates(console: &mut Console<'_>, catalog: &Catalog) {
    console.say("line  actions  template");
    for (number, template) in catalog.templates().iter().enumerate() {
        let count = catalog.count(TemplateId(number));
        let text = template_text(catalog, template);
        console.say(format_args!("{:>4}  {:>7}  {text}", template.line, count));
    }
}

/// The text of a template with its holes as they are written in a harness.
fn template_text(catalog: &Catalog, template: &Template) -> String {
    let pieces: String = template
        .pieces
        .iter()
        .map(|piece| piece_text(catalog, template, piece))
        .collect();
    let repeats = template.axes.iter().filter_map(|axis| match axis {
        Axis::Repeat(times) => Some(format!("  (*{times})")),
        _ => None,
    });
    pieces.trim().to_owned() + &repeats.collect::<String>()
}

fn piece_text(catalog: &Catalog, template: &Template, piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Hole(axis) => hole_text(catalog, &template.axes[*axis]),
        Piece::Twin(axis) => format!("REF:{}", hole_text(catalog, &template.axes[*axis])),
    }
}

fn hole_text(catalog: &Catalog, axis: &Axis) -> String {
    match axis {
        Axis::Slot { pool, .. } => format!("<{}>", catalog.pool(*pool).name),
        Axis::Choice(choice) => choice_text(choice),
        Axis::Repeat(_) => String::new(),
    }
}

/// A choice as it is written; the middle of a long list is left out.
fn choice_text(choice: &Choice) -> String {
    const SHOWN: u64 = 6;
    let list = |range: std::ops::Range<u64>| {
        let texts: Vec<String> = range
            .map(|number| choice.text(number).into_owned())
            .collect();
        texts.join(",")
    };
    match (choice, choice.len()) {
        (Choice::Texts(_), ..=SHOWN) => format!("<[{}]>", list(0..choice.len())),
        (Choice::Texts(_), length) => {
            format!("<[{},…,{}]>", list(0..SHOWN - 2), list(length - 1..length))
        }
        (_, 0) => "<[]>".to_owned(),
        (_, length) => format!("<[{}..{}]>", choice.text(0), choice.text(length - 1)),
    }
}
