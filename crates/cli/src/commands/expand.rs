//! `testwright expand`: the actions that a harness stands for.

use std::path::PathBuf;

use testwright_core::{ActionId, Axis, Catalog, ChoiceValues, Template, TemplateId, TemplatePiece};
use testwright_lang::Harness;

use crate::console::Console;
use crate::{CommandError, ExitStatus, load, quantity, report};

/// Show the actions that a harness stands for
///
/// A line such as `<stack>.push(<int>)` is a template: with 2 stacks and 4 integers it stands for
/// 8 actions. No code of the system under test is imported or run.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright expand stack.tstl                    the templates, with their line and number of actions
  testwright expand stack.tstl --count            the number of actions
  testwright expand stack.tstl --actions | head   the texts of the first ten actions

Exit status: 0 expanded, 2 could not do what was asked."
)]
pub(crate) struct ExpandCommand {
    /// Harness to expand
    file: PathBuf,

    #[command(flatten)]
    form: ExpandFormat,
}

/// Options that choose what is printed; at most one may be given.
#[derive(clap::Args)]
#[group(multiple = false)]
struct ExpandFormat {
    /// Show one line per template (this is the default)
    #[arg(long)]
    templates: bool,

    /// Show only the number of actions
    #[arg(long)]
    count: bool,

    /// Show one line per action
    #[arg(long)]
    actions: bool,
}

impl ExpandCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let (harness, is_sound) = load::harness_to_inspect(console, &self.file)?;
        let catalog = &harness.catalog;
        if self.form.count {
            print_count(console, &harness);
        } else if self.form.actions {
            print_actions(console, catalog);
        } else {
            print_templates(console, catalog);
        }
        Ok(if is_sound {
            ExitStatus::NothingFound
        } else {
            ExitStatus::Error
        })
    }
}

/// Prints the number of actions. The bare number comes first, for `cut -d' ' -f1`.
fn print_count(console: &mut Console<'_>, harness: &Harness) {
    let actions = harness.catalog.len();
    let noun = if actions == 1 { "action" } else { "actions" };
    let lines = quantity::format_count(report::action_lines(harness), "line");
    console.out(format_args!("{actions} {noun} from {lines}"));
}

/// Prints the text of every action, until standard output is closed.
fn print_actions(console: &mut Console<'_>, catalog: &Catalog) {
    for number in 0..catalog.len() {
        if console.is_closed() {
            break;
        }
        console.out(catalog.text(ActionId(number)));
    }
}

/// Prints every template with its line and its number of actions.
fn print_templates(console: &mut Console<'_>, catalog: &Catalog) {
    console.out("line  actions  template");
    for (number, template) in catalog.templates().iter().enumerate() {
        let count = catalog.count(TemplateId(number));
        let text = template_text(catalog, template);
        console.out(format_args!("{:>4}  {:>7}  {text}", template.line, count));
    }
}

/// Returns the text of a template, with its holes as they are written in a harness.
pub(crate) fn template_text(catalog: &Catalog, template: &Template) -> String {
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

/// Returns the text of a piece of a template.
fn piece_text(catalog: &Catalog, template: &Template, piece: &TemplatePiece) -> String {
    match piece {
        TemplatePiece::Text(text) => text.clone(),
        TemplatePiece::Hole(axis) => hole_text(catalog, &template.axes[*axis]),
        TemplatePiece::Twin(axis) => format!("REF:{}", hole_text(catalog, &template.axes[*axis])),
    }
}

/// Returns the text of a hole.
fn hole_text(catalog: &Catalog, axis: &Axis) -> String {
    match axis {
        Axis::Slot { pool, .. } => format!("<{}>", catalog.pool(*pool).name),
        Axis::Choice(choice) => choice_text(choice),
        Axis::Repeat(_) => String::new(),
    }
}

/// Returns the text of a choice. The middle of a long list is left out.
fn choice_text(choice: &ChoiceValues) -> String {
    /// Length from which a list is shortened.
    const MAX_SHOWN: u64 = 6;
    let list = |range: std::ops::Range<u64>| {
        let texts: Vec<String> = range
            .map(|number| choice.text(number).into_owned())
            .collect();
        texts.join(",")
    };
    match (choice, choice.len()) {
        (ChoiceValues::Texts(_), ..=MAX_SHOWN) => format!("<[{}]>", list(0..choice.len())),
        (ChoiceValues::Texts(_), length) => {
            format!(
                "<[{},…,{}]>",
                list(0..MAX_SHOWN - 2),
                list(length - 1..length)
            )
        }
        (_, 0) => "<[]>".to_owned(),
        (_, length) => format!("<[{}..{}]>", choice.text(0), choice.text(length - 1)),
    }
}
