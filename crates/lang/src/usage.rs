//! What only the whole harness shows: pools that nobody uses or fills, no actions at all.

use std::collections::{BTreeMap, BTreeSet};

use testwright_core::{Axis, PoolId, Role};

use crate::diagnostics::{Diagnostic, LOST};
use crate::harness::{Action, Fragment, Harness, Part, Reference};
use crate::host;
use crate::keywords::{Declaration, Keyword};
use crate::pools::Pools;

/// Looks at the harness as a whole.
pub(crate) fn check(
    harness: &Harness,
    pools: &Pools,
    file: &str,
    declarations: &[Declaration<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    no_actions(file, pools, declarations, diagnostics);
    let usage = Usage::of(harness);
    let is_incomplete = |diagnostic: &Diagnostic| {
        diagnostic.severity == crate::Severity::Error || LOST.contains(&diagnostic.name)
    };
    if diagnostics.iter().any(is_incomplete) {
        // A line that could not be read may be the one that uses or fills a pool.
        return;
    }
    calls_of_pre(harness, declarations, diagnostics);
    if !harness.references.is_empty() {
        let words = words(harness);
        for reference in &harness.references {
            diagnostics.extend(matches_part(reference, &words, declarations));
        }
    }
    for (index, (pool, place)) in pools.declared.iter().zip(&pools.places).enumerate() {
        let pool_id = PoolId(index);
        if !usage.named.contains(&pool_id) {
            diagnostics.push(
                Diagnostic::warning(
                    "unused-pool",
                    place.clone(),
                    format!("the pool `<{}>` is never used", pool.name),
                )
                .with_label("never used")
                .with_help("use it in an action, or remove it"),
            );
        } else if usage.needed.contains(&pool_id) && !usage.filled.contains(&pool_id) {
            let problem = Diagnostic::warning(
                "never-initialised",
                place.clone(),
                format!(
                    "no action initialises the pool `<{}>`, so no action that uses it can happen",
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

/// `pre(…)` where `pre<(…)>` must be meant: the harness has no such function.
fn calls_of_pre(
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
            declaration.place(&(at..at + 4)),
            "`pre(…)` calls a function that the harness does not define",
        )
        .with_help("the value before the statement is written `pre<(…)>`");
        diagnostics.push(problem);
    }
}

/// The place of an action `<x> = …`, which was probably meant to be `<x> := …`.
fn plain_assignment(
    harness: &Harness,
    pool: PoolId,
    declarations: &[Declaration<'_>],
) -> Option<std::ops::Range<usize>> {
    let is_assignment = |action: &&Action| match action.statement.parts.as_slice() {
        [Part::Slot { axis, .. }, Part::Text(text), ..] => {
            let is_it = matches!(action.axes.get(*axis), Some(Axis::Slot { pool: named, .. }) if *named == pool);
            let text = text.trim_start();
            is_it && text.starts_with('=') && !text.starts_with("==")
        }
        _ => false,
    };
    let line = harness.actions.iter().find(is_assignment)?.line;
    declarations
        .iter()
        .find(|declaration| declaration.line.number == line)
        .map(Declaration::whole)
}

/// The words of all statements, and the line where each stands first.
fn words(harness: &Harness) -> BTreeMap<String, usize> {
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

/// A pattern that is one word, but also matches inside longer words of the actions, where it does harm.
fn matches_part(
    reference: &Reference,
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
            declaration.whole(),
            format!("the pattern `{pattern}` also matches inside `{word}` on line {line}"),
        )
        .with_label("replaced wherever these letters stand")
        .with_help(format!("write `\\b{pattern}\\b` to match whole words")),
    )
}

fn no_actions(
    file: &str,
    pools: &Pools,
    declarations: &[Declaration<'_>],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let is_action = |declaration: &Declaration<'_>| {
        matches!(declaration.keyword, Keyword::Action | Keyword::Expect)
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

#[derive(Default)]
struct Usage {
    /// Pools that are mentioned somewhere.
    named: BTreeSet<PoolId>,
    /// Pools whose slots must hold a value for something to happen.
    needed: BTreeSet<PoolId>,
    /// Pools that something fills.
    filled: BTreeSet<PoolId>,
}

impl Usage {
    fn of(harness: &Harness) -> Usage {
        let mut usage = Usage::default();
        for action in &harness.actions {
            usage.axes(&action.axes);
            usage.filled_by(&action.statement, &action.axes);
        }
        for property in &harness.properties {
            usage.axes(&property.line.axes);
        }
        for init in &harness.inits {
            usage.axes(&init.axes);
            usage.filled.extend(init.axes.iter().filter_map(pool));
        }
        let others = [&harness.finallys, &harness.assumptions, &harness.hints];
        let logs = harness.logs.iter().map(|log| &log.line);
        for line in others.into_iter().flatten().chain(logs) {
            usage.axes(&line.axes);
        }
        usage
    }

    fn axes(&mut self, axes: &[Axis]) {
        for axis in axes {
            if let Axis::Slot { pool, role } = axis {
                self.named.insert(*pool);
                if matches!(role, Role::Use | Role::SilentUse) {
                    self.needed.insert(*pool);
                }
            }
        }
    }

    /// Definitions in the statement; in a guard they are only called so.
    fn filled_by(&mut self, statement: &Fragment, axes: &[Axis]) {
        for part in &statement.parts {
            if let Part::Slot { axis, .. } = part
                && let Some(Axis::Slot {
                    pool,
                    role: Role::Definition,
                }) = axes.get(*axis)
            {
                self.filled.insert(*pool);
            }
        }
    }
}

fn pool(axis: &Axis) -> Option<PoolId> {
    match axis {
        Axis::Slot { pool, .. } => Some(*pool),
        _ => None,
    }
}
