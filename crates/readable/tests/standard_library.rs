//! Everything in Python's own library can be phrased: no panic, no empty phrase, no line break.

use std::path::{Path, PathBuf};

use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;
use testwright_readable::term::{EmptyScope, Term};
use testwright_source::tree::{self, Expression, Function, Statement, StatementKind};

/// The number of files that are read, in alphabetical order: enough to meet every construct, few
/// enough for a debug build.
const FILES: usize = 40;

/// Returns the usual folder of Python's library.
fn library() -> Option<PathBuf> {
    let roots = ["/usr/lib", "/usr/local/lib", "/opt/homebrew/lib"];
    let mut found: Vec<PathBuf> = roots
        .iter()
        .filter_map(|root| std::fs::read_dir(root).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("heapq.py").is_file() && path.join("bisect.py").is_file())
        .collect();
    found.sort();
    found.pop()
}

fn files(library: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(library)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "py"))
        .collect();
    files.sort();
    files.truncate(FILES);
    files
}

fn function<'t>(function: &'t Function, found: &mut Vec<&'t Expression>) {
    found.extend(&function.decorators);
    found.extend(
        function
            .parameters
            .iter()
            .filter_map(|parameter| parameter.default.as_ref()),
    );
    statements(&function.body, found);
}

/// Collects the outermost expressions of statements.
fn statements<'t>(body: &'t [Statement], found: &mut Vec<&'t Expression>) {
    for statement in body {
        match &statement.kind {
            StatementKind::Function(inner) => function(inner, found),
            StatementKind::Class(class) => {
                found.extend(&class.bases);
                statements(&class.body, found);
            }
            StatementKind::Return(value) => found.extend(value),
            StatementKind::Delete(values) => found.extend(values),
            StatementKind::Assign { value, .. } | StatementKind::Augmented { value, .. } => {
                found.push(value)
            }
            StatementKind::Annotated { value, .. } => found.extend(value),
            StatementKind::For {
                iterable: head,
                body,
                otherwise,
                ..
            }
            | StatementKind::While {
                condition: head,
                body,
                otherwise,
            }
            | StatementKind::If {
                condition: head,
                body,
                otherwise,
            } => {
                found.push(head);
                statements(body, found);
                statements(otherwise, found);
            }
            StatementKind::With { items, body, .. } => {
                found.extend(items.iter().map(|(manager, _)| manager));
                statements(body, found);
            }
            StatementKind::Match { subject, cases } => {
                found.push(subject);
                cases.iter().for_each(|case| statements(&case.body, found));
            }
            StatementKind::Raise { exception, .. } => found.extend(exception),
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                statements(body, found);
                handlers
                    .iter()
                    .for_each(|handler| statements(&handler.body, found));
                statements(otherwise, found);
                statements(finally, found);
            }
            StatementKind::Assert { condition, .. } => found.push(condition),
            StatementKind::Expression(expression) => found.push(expression),
            _ => {}
        }
    }
}

#[test]
fn everything_in_the_library_has_a_phrase() {
    let Some(library) = library() else {
        return;
    };
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let mut count = 0;
    for path in files(&library) {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let Ok(module) = tree::module(&text) else {
            continue;
        };
        let mut found = Vec::new();
        statements(&module.body, &mut found);
        for expression in found {
            let term = Term::from_expression(expression, &text, &EmptyScope);
            let phrases = [
                phraser.noun(&term).text,
                phraser.clause(&term),
                phraser.negative(&term),
            ];
            for phrase in phrases {
                let source = text.get(expression.range.clone()).unwrap_or_default();
                assert!(
                    !phrase.trim().is_empty() && !phrase.contains('\n'),
                    "{source}: {phrase:?}"
                );
                // Literal texts may contain any number of spaces.
                let outside = phrase.split('"').step_by(2).collect::<Vec<_>>().join("…");
                assert!(
                    !outside.contains("  ") || source.contains("  "),
                    "{source}: {phrase:?}"
                );
            }
            count += 1;
        }
    }
    assert!(
        count > 1_000,
        "only {count} expressions were found in {}",
        library.display()
    );
}
