//! Installed functions as the actions of a model: each is explained in complete, well-formed
//! sentences.
//!
//! ```sh
//! SWEEP=all cargo test --release -p testwright-readable --test integration installed_actions -- --nocapture
//! ```

use crate::sweep;

use sweep::{fault, installed, is_thorough, words_of_names};
use testwright_readable::block::NORMAL;
use testwright_readable::explain::{self, Options};
use testwright_readable::render;
use testwright_source::tree::{self, StatementKind};

/// The number of functions: enough to meet every construct, few enough for a debug build.
const FUNCTIONS: usize = 400;

/// The largest module that is read. Larger ones cost more than they show.
const LONGEST: usize = 60_000;

/// Turns a module into a model whose actions are its functions.
fn model(text: &str) -> Option<(String, usize)> {
    let module = tree::module(text).ok()?;
    let functions: Vec<&str> = module
        .body
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Function(function) if !function.name.starts_with('_') => {
                Some(function.name.as_str())
            }
            _ => None,
        })
        .collect();
    let listed = format!("{text}\nactions = ({},)\n", functions.join(", "));
    (!functions.is_empty()).then_some((listed, functions.len()))
}

#[test]
#[allow(
    clippy::print_stdout,
    reason = "those who sweep over all there is want to know how much that was"
)]
fn whatever_can_be_done_can_be_explained() {
    let paths = installed();
    if paths.is_empty() {
        return;
    }
    let (mut functions, mut sentences, mut faults) = (0, 0, Vec::new());
    for path in paths {
        if functions >= FUNCTIONS && !is_thorough() {
            break;
        }
        let file = path.to_string_lossy();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let Some((model, count)) = model(&text).filter(|_| text.len() < LONGEST) else {
            continue;
        };
        let rendered = explain::explain(&file, &model, &Options::default());
        let rendered = rendered.unwrap_or_else(|problem| panic!("{file}: {problem:?}"));
        let words = words_of_names(&model);
        let lines = render::text(&rendered.document.at_verbosity(NORMAL));
        // Docstrings are the author's words, so they are not checked.
        let ours = lines.lines().map(str::trim);
        for line in ours.filter(|line| line.starts_with("- ")) {
            sentences += 1;
            faults.extend(fault(line, &words).map(|fault| format!("{file}: {fault}:\n    {line}")));
        }
        functions += count;
    }
    println!(
        "{functions} functions, {sentences} sentences, {} faults",
        faults.len()
    );
    let some: Vec<&String> = faults.iter().take(20).collect();
    assert!(some.is_empty(), "{some:#?}");
    assert!(functions > 100, "only {functions} functions were found");
}
