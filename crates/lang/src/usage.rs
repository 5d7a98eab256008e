//! Checks that need the whole harness: pools that are never used or filled, no actions at all.

use std::collections::{BTreeMap, BTreeSet};

use testwright_core::{Axis, PoolId, SlotRole};

use crate::diagnostics::{Diagnostic, IGNORED_TEXT};
use crate::harness::{ActionTemplate, CodePart, Fragment, Harness, ReferenceRule};
use crate::host;
use crate::keywords::{Declaration, LineKeyword};
use crate::pools::Pools;

/// Checks the harness as a whole.
pub(crate) fn check(
    harness: &Harness,
    pools: &Pools,
    file: &str,
    declarations: &[Declaration<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    report_no_actions(file, pools, declarations, diagnostics);
    let usage = PoolUsage::collect(harness);
    let is_incomplete = |diagnostic: &Diagnostic| {
        diagnostic.severity == crate::Severity::Error || IGNORED_TEXT.contains(&diagnostic.name)
    };
    if diagnostics.iter().any(is_incomplete) {
        // A line that could not be parsed may be the one that uses or fills a pool.
        return;
    }
    check_pre_calls(harness, declarations, diagnostics);
    if !harness.references.is_empty() {
        let words = statement_words(harness);
        for reference in &harness.references {
            diagnostics.extend(check_partial_match(reference, &words, declarations));
        }
    }
    for (index, (pool, location)) in pools.declared.iter().zip(&pools.name_ranges).enumerate() {
        let pool_id = PoolId(index);
        if pool.reference && !has_reference(harness, pool_id) {
            diagnostics.push(missing_reference(&pool.name, location));
        }
        if !usage.mentioned.contains(&pool_id) {
            diagnostics.push(
                Diagnostic::warning(
                    "unused-pool",
                    location.clone(),
                    format!("the pool `<{}>` is never used", pool.name),
                )
                .with_label("never used")
                .with_help("use it in an action, or remove it"),
            );
        } else if usage.needed.contains(&pool_id) && !usage.filled.contains(&pool_id) {
            let problem = Diagnostic::warning(
                "never-initialized",
                location.clone(),
                format!(
                    "no action initializes the pool `<{}>`, so no action that uses it can happen",
                    pool.name
                ),
            )
            .with_label("never filled");
            let name = &pool.name;
            diagnostics.push(match plain_assignment(harness, pool_id, declarations) {
                Some(line) => problem
                    .with_related(line, "`=` only changes a slot that holds a value already")
                    .with_help(format!("write `<{name}> := …` to give it its first value")),
                None => problem.with_help(format!("add an action such as `<{name}> := …`")),
            });
        }
    }
}

/// Returns true if something makes the twins of a pool differ from the system: a `reference:` line,
/// or an action that names a twin.
fn has_reference(harness: &Harness, pool: PoolId) -> bool {
    let names_twin = |action: &ActionTemplate| {
        action.statement.parts.iter().any(|part| match part {
            CodePart::Slot {
                axis, twin: true, ..
            } => matches!(action.axes.get(*axis), Some(Axis::Slot { pool: named, .. }) if *named == pool),
            _ => false,
        })
    };
    !harness.references.is_empty() || harness.actions.iter().any(names_twin)
}

/// Returns the error for a pool with twins that do only what the system does.
fn missing_reference(name: &str, location: &std::ops::Range<usize>) -> Diagnostic {
    let message = format!(
        "the pool `<{name}>` is declared `REF`, but there is no `reference:` line: the system would be compared with itself"
    );
    Diagnostic::error("no-reference", location.clone(), message)
        .with_label("has twins, but no reference")
        .with_help("name the reference, as in `reference: module.Class ==> list`, or remove `REF`")
}

/// Warns about `pre(…)` where `pre<(…)>` must be meant: the harness has no such function.
fn check_pre_calls(
    harness: &Harness,
    declarations: &[Declaration<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let is_word = |text: &str| {
        let mut words = text.split(|letter| !host::continues_name(letter));
        words.any(|word| matches!(word, "pre" | "PRE"))
    };
    let mut line = 0;
    for action in &harness.actions {
        let Some(post) = &action.post else { continue };
        let text = post.render(|_| "x".to_owned());
        let may_be_call = text.contains("pre(") || text.contains("PRE(");
        if line == action.line || !may_be_call || !is_word(&text) || is_word(&harness.raw.text) {
            continue;
        }
        line = action.line;
        let at = declarations.partition_point(|declaration| declaration.line.number < line);
        let Some(declaration) = declarations.get(at) else {
            continue;
        };
        let whole = &declaration.line.text;
        let Some(at) = whole.find("pre(").or_else(|| whole.find("PRE(")) else {
            continue;
        };
        let problem = Diagnostic::warning(
            "pre-is-a-call",
            declaration.file_range(&(at..at + 4)),
            "`pre(…)` calls a function that the harness does not define",
        )
        .with_help("the value before the statement is written `pre<(…)>`");
        diagnostics.push(problem);
    }
}

/// Returns the position of an action `<x> = …`, which was probably meant to be `<x> := …`.
fn plain_assignment(
    harness: &Harness,
    pool: PoolId,
    declarations: &[Declaration<'_>],
) -> Option<std::ops::Range<usize>> {
    let is_assignment = |action: &&ActionTemplate| match action.statement.parts.as_slice() {
        [CodePart::Slot { axis, .. }, CodePart::Text(text), ..] => {
            let is_pool = matches!(action.axes.get(*axis), Some(Axis::Slot { pool: named, .. }) if *named == pool);
            let text = text.trim_start();
            is_pool && text.starts_with('=') && !text.starts_with("==")
        }
        _ => false,
    };
    let line = harness.actions.iter().find(is_assignment)?.line;
    declarations
        .iter()
        .find(|declaration| declaration.line.number == line)
        .map(Declaration::line_range)
}

/// Collects the words of all statements, each with the line where it first occurs.
fn statement_words(harness: &Harness) -> BTreeMap<String, usize> {
    let mut words = BTreeMap::new();
    for action in &harness.actions {
        let text = action.statement.render(|_| " ".to_owned());
        for word in text.split(|letter| !host::continues_name(letter)) {
            if !words.contains_key(word) {
                words.insert(word.to_owned(), action.line);
            }
        }
    }
    words
}

/// Warns about a pattern that is one word, but also matches inside longer words of the actions.
fn check_partial_match(
    reference: &ReferenceRule,
    words: &BTreeMap<String, usize>,
    declarations: &[Declaration<'_>],
) -> Option<Diagnostic> {
    let pattern = reference.pattern.as_str();
    if !pattern.chars().all(host::continues_name) {
        return None;
    }
    let declaration = declarations
        .iter()
        .find(|declaration| declaration.line.number == reference.line)?;
    let (word, line) = words
        .iter()
        .filter(|(word, _)| *word != pattern && word.contains(pattern))
        .min_by_key(|(_, line)| **line)?;
    Some(
        Diagnostic::warning(
            "matches-part",
            declaration.line_range(),
            format!("the pattern `{pattern}` also matches inside `{word}` on line {line}"),
        )
        .with_label("replaced wherever these letters stand")
        .with_help(format!("write `\\b{pattern}\\b` to match whole words")),
    )
}

/// Reports a harness without actions.
fn report_no_actions(
    file: &str,
    pools: &Pools,
    declarations: &[Declaration<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let is_action = |declaration: &Declaration<'_>| {
        matches!(
            declaration.keyword,
            LineKeyword::Action | LineKeyword::Expect
        )
    };
    let broken = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == crate::Severity::Error);
    if declarations.iter().any(is_action) || broken {
        return;
    }
    let message = if file.trim().is_empty() {
        "the harness is empty"
    } else {
        "the harness has no actions"
    };
    diagnostics.push(
        Diagnostic::error("no-actions", 0..0, message).with_help(match pools.declared.first() {
            Some(pool) => format!(
                "write at least one line that does something, such as `<{}> := 1`",
                pool.name
            ),
            None => String::from(
                "declare a pool with `pool: <x> 3` and give it values with an action `<x> := <[1..9]>`",
            ),
        }),
    );
}

/// Pools by the way they are used.
#[derive(Default)]
struct PoolUsage {
    /// Pools that are mentioned somewhere.
    mentioned: BTreeSet<PoolId>,
    /// Pools whose slots must hold a value for some line.
    needed: BTreeSet<PoolId>,
    /// Pools that some line fills.
    filled: BTreeSet<PoolId>,
}

impl PoolUsage {
    /// Collects the usage of all pools.
    fn collect(harness: &Harness) -> PoolUsage {
        let mut usage = PoolUsage::default();
        for action in &harness.actions {
            usage.add_axes(&action.axes);
            usage.add_filled(&action.statement, &action.axes);
        }
        for property in &harness.properties {
            usage.add_axes(&property.line.axes);
        }
        for init in &harness.inits {
            usage.add_axes(&init.axes);
            usage.filled.extend(init.axes.iter().filter_map(pool));
        }
        let others = [&harness.finallys, &harness.assumptions, &harness.hints];
        let logs = harness.logs.iter().map(|log| &log.line);
        for line in others.into_iter().flatten().chain(logs) {
            usage.add_axes(&line.axes);
        }
        usage
    }

    /// Adds the pools of a line's axes.
    fn add_axes(&mut self, axes: &[Axis]) {
        for axis in axes {
            if let Axis::Slot { pool, role } = axis {
                self.mentioned.insert(*pool);
                if matches!(role, SlotRole::Use | SlotRole::SilentUse) {
                    self.needed.insert(*pool);
                }
            }
        }
    }

    /// Adds the pools that a statement defines. A definition in a guard does not fill its pool.
    fn add_filled(&mut self, statement: &Fragment, axes: &[Axis]) {
        for part in &statement.parts {
            if let CodePart::Slot { axis, .. } = part
                && let Some(Axis::Slot {
                    pool,
                    role: SlotRole::Definition,
                }) = axes.get(*axis)
            {
                self.filled.insert(*pool);
            }
        }
    }
}

/// Returns the pool of a slot axis.
fn pool(axis: &Axis) -> Option<PoolId> {
    match axis {
        Axis::Slot { pool, .. } => Some(*pool),
        _ => None,
    }
}
