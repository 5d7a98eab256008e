//! The harness language: `.tstl` text to syntax tree to diagnostics to templates. Runs nothing.
//!
//! ```
//! let (harness, diagnostics) = testwright_lang::parse("pool: <x> 2\n<x> := <[1..3]>\nprint(<x>)\n");
//! assert!(diagnostics.is_empty());
//! assert_eq!(harness.catalog.len(), 2 * 3 + 2);
//! assert_eq!(harness.catalog.text(testwright_core::ActionId(1)), "x0 = 2");
//! ```
//!
//! The files follow the text on its way: `lines` joins lines, `keywords` says what each is, `pools`
//! reads the declarations, `placeholders` and `choices` find the holes in a line, `expand` turns
//! them into axes, `action` and its neighbors put host code and holes into a [`Harness`], `check`
//! asks the host's parser. Only `host` knows which language that is.

#![warn(missing_docs)]

mod action;
mod advice;
mod check;
mod choices;
mod code_lines;
pub mod diagnostics;
mod exceptions;
mod expand;
mod fragments;
mod guarded;
pub mod harness;
mod host;
mod keywords;
mod lines;
mod mapping;
mod nodes;
mod placeholders;
mod pools;
mod raw;
mod references;
mod spelling;
mod usage;

use testwright_core::Catalog;

pub use diagnostics::{Diagnostic, Severity};
pub use harness::Harness;

use expand::LineContext;
use keywords::{Declaration, LineKeyword};

/// Parses a harness completely. Returns everything that can be understood, and all problems.
///
/// The harness is usable if no diagnostic is an [error](Severity::Error).
pub fn parse(text: &str) -> (Harness, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let without_nul = lines::without_nul(text, &mut diagnostics);
    let lines = lines::read(&without_nul, &mut diagnostics);
    let declarations = keywords::classify(&lines.harness, &mut diagnostics);
    let pools = pools::read(&declarations, &mut diagnostics);
    let raw = raw::read(&lines.raw, &mut diagnostics);
    let mut harness = Harness::default();
    let mut found = Vec::new();
    for declaration in &declarations {
        let mut context = LineContext {
            declaration,
            pools: &pools,
            diagnostics: &mut found,
        };
        read_line(&mut context, &raw.guarded, &mut harness);
        diagnostics.append(&mut found);
    }
    harness.raw = raw.code;
    usage::check(&harness, &pools, text, &declarations, &mut diagnostics);
    harness.pools = pools.declared;
    match expand::catalog(&harness) {
        Ok(catalog) => harness.catalog = catalog,
        Err(too_many) => {
            diagnostics.push(too_many_actions(&harness, &declarations, too_many));
            harness.actions.clear();
        }
    }
    (harness, diagnostics::sort_and_prune(diagnostics, text))
}

/// Parses one line into the harness.
fn read_line(context: &mut LineContext<'_, '_>, guarded: &[String], harness: &mut Harness) {
    match context.declaration.keyword {
        LineKeyword::Pool => {}
        LineKeyword::Action | LineKeyword::Expect => harness
            .actions
            .extend(action::parse_action(context, guarded)),
        LineKeyword::Reference
        | LineKeyword::Compare
        | LineKeyword::Source
        | LineKeyword::Feature
        | LineKeyword::Exception => references::read(context, harness),
        _ => code_lines::parse_code_line(context, harness),
    }
}

/// Builds the diagnostic for a harness with too many actions.
fn too_many_actions(
    harness: &Harness,
    declarations: &[Declaration<'_>],
    too_many: testwright_core::TooManyActions,
) -> Diagnostic {
    let line = harness
        .actions
        .get(too_many.template.0)
        .map_or(1, |action| action.line);
    let declaration = declarations
        .iter()
        .find(|declaration| declaration.line.number == line);
    let range = declaration.map_or(0..0, Declaration::line_range);
    Diagnostic::error(
        "too-many-actions",
        range,
        format!(
            "with this line the harness has more than {} actions",
            Catalog::LIMIT
        ),
    )
    .with_help("use smaller ranges, or fewer placeholders in one line")
}
