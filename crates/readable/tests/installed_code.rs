//! Functions that assert something, from whatever is installed on this machine: each becomes a feature whose sentences
//! are whole and well-formed, and which other parsers read alike.
//!
//! Some of Python's own library are enough for every day. Those who change the wording read more: all of the library, or
//! the tests of packages that were unpacked somewhere.
//!
//! ```sh
//! SWEEP=all cargo test --release -p testwright-readable --test installed_code -- --nocapture
//! SWEEP=$HOME/packages cargo test --release -p testwright-readable --test installed_code -- --nocapture
//! ```

mod parsers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use parsers::read_alike;
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::measure;
use testwright_readable::phrase::Speaker;
use testwright_readable::property::{Layout, Property, Sampled, Subject, Values};
use testwright_readable::sample::{Argument, Case};
use testwright_readable::value::Value;
use testwright_readable::words::humanise;
use testwright_source::tree::{self, Expression, ExpressionKind, Statement, StatementKind};
use testwright_source::{TokenKind, tokens};

/// Enough to meet everything, few enough for a debug build.
const FUNCTIONS: usize = 300;

/// Words that never follow themselves or each other.
const ARTICLES: [&str; 3] = ["a", "an", "the"];
const ONCE: [&str; 12] = [
    "of", "is", "are", "and", "or", "with", "to", "in", "than", "not", "every", "equals",
];
/// Words that promise another one.
const UNFINISHED: [&str; 12] = [
    "a", "an", "the", "of", "and", "or", "with", "than", "equals", "because", "every", "if",
];

/// The library of the Python that the extension is built for, with all that is installed there; or of any.
fn library() -> Option<PathBuf> {
    let python = std::env::var("PYO3_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    // A virtual environment has little of its own.
    let asked = "import sysconfig; print(sysconfig.get_path('stdlib'))";
    let answer = Command::new(python).args(["-c", asked]).output().ok()?;
    let folder = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    folder.join("heapq.py").is_file().then_some(folder)
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            found.push(path);
        }
    }
}

/// `function` and `Class.method` of all that assert something.
fn asserting(body: &[Statement], class: Option<&str>, found: &mut Vec<String>) {
    for statement in body {
        match &statement.kind {
            StatementKind::Function(function)
                if asserts(&function.body) || is_given(&function.decorators) =>
            {
                let class = class.map(|class| format!("{class}."));
                found.push(class.unwrap_or_default() + &function.name);
            }
            StatementKind::Class(inner) if class.is_none() => {
                asserting(&inner.body, Some(&inner.name), found);
            }
            _ => {}
        }
    }
}

/// Whether Hypothesis runs it: what it asserts may be in what it calls.
fn is_given(decorators: &[Expression]) -> bool {
    decorators.iter().any(|decorator| {
        let ExpressionKind::Call { function, .. } = &decorator.kind else {
            return false;
        };
        let words = function.dotted();
        words.is_some_and(|words| words.last() == Some(&"given"))
    })
}

fn asserts(body: &[Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Assert { .. } => true,
        StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::If { body, .. }
        | StatementKind::With { body, .. }
        | StatementKind::Try { body, .. } => asserts(body),
        _ => false,
    })
}

/// Any values: what is told must be well-formed whatever they are.
fn case(property: &Property, turn: usize) -> Case {
    let values = [
        Value::Integer("7".to_owned()),
        Value::List(vec![Value::Integer("1".to_owned()), Value::Nothing]),
        Value::Text("two words".to_owned()),
    ];
    let value = |index: usize| values[(index + turn) % values.len()].clone();
    let inputs = property.inputs.iter().enumerate();
    Case::of(
        inputs
            .map(|(index, input)| Argument::new(&input.name, value(index)))
            .collect(),
    )
}

/// What is wrong with a sentence, if anything is. The words of names may stand anywhere.
fn fault(sentence: &str, names: &BTreeSet<String>) -> Option<String> {
    let (outside, closed) = outside_quotes(sentence);
    let words: Vec<&str> = outside.split_whitespace().collect();
    if sentence.trim().is_empty() {
        return Some("it is empty".to_owned());
    }
    if !closed {
        return Some("a quotation does not end".to_owned());
    }
    for pair in words.windows(2) {
        let [one, other] = pair else { continue };
        let (one, other) = (one.to_lowercase(), other.to_lowercase());
        let other = other.trim_end_matches([',', '.', ';', ':']);
        if names.contains(&one) || names.contains(other) {
            continue;
        }
        let articles = ARTICLES.contains(&one.as_str()) && ARTICLES.contains(&other);
        if articles || (one == other && ONCE.contains(&other)) {
            return Some(format!("\"{one} {other}\""));
        }
    }
    if outside.contains(" ,") || outside.contains(" .") || outside.contains(" ;") {
        return Some("a space stands before punctuation".to_owned());
    }
    let last = words.last()?.trim_end_matches(['.', ',', ':']);
    if UNFINISHED.contains(&last) && !names.contains(last) {
        return Some(format!("it ends with \"{last}\""));
    }
    let count = |letter: char| outside.matches(letter).count();
    (count('(') != count(')')).then(|| "a bracket has no partner".to_owned())
}

/// The sentence with `…` for each quotation, and whether the last one ends.
fn outside_quotes(sentence: &str) -> (String, bool) {
    let mut outside = String::new();
    let (mut inside, mut escaped) = (false, false);
    for letter in sentence.chars() {
        if letter == '"' && !escaped {
            inside = !inside;
            if inside {
                outside.push('…');
            }
        } else if !inside {
            outside.push(letter);
        }
        escaped = inside && letter == '\\' && !escaped;
    }
    (outside, !inside)
}

/// What people read of a feature, without the values of tables and long texts.
fn sentences(feature: &str) -> Vec<&str> {
    let mut quoted = false;
    let told = feature.lines().map(str::trim).filter(|line| {
        let is_fence = line.starts_with("\"\"\"") || line.starts_with("```");
        quoted ^= is_fence;
        !quoted && !is_fence && !line.is_empty() && !line.starts_with(['@', '|', '#'])
    });
    told.collect()
}

/// The words of all names in a text.
fn words_of_names(text: &str) -> BTreeSet<String> {
    let names = tokens(text)
        .into_iter()
        .filter(|token| token.kind == TokenKind::Name);
    let names = names.filter_map(|token| text.get(token.range));
    names
        .flat_map(|name| {
            let words = humanise(name).to_lowercase();
            words.split(' ').map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

/// What was told so far.
#[derive(Default)]
struct Sweep {
    functions: usize,
    given: usize,
    sentences: usize,
    leaks: usize,
    faults: Vec<String>,
}

/// Tells a function with made-up values.
fn tell(
    subject: &Subject,
    name: &str,
    words: &BTreeSet<String>,
    speaker: &Speaker<'_>,
    sweep: &mut Sweep,
) {
    let turn = sweep.functions;
    let property = subject.property(name).expect("the module has it");
    let sampled = [Sampled::new(&property, vec![case(&property, turn)])];
    let values = [Values::Named, Values::Inline][turn % 2];
    let told = subject.tell(&sampled, values, Layout::default(), speaker);
    let written = gherkin::write(&told.feature)
        .unwrap_or_else(|problem| panic!("{}: {name}: {problem:?}", subject.file));
    let read = gherkin::read(&written)
        .unwrap_or_else(|problem| panic!("{}: {name}: {problem:?}\n{written}", subject.file));
    assert_eq!(gherkin::write(&read).ok().as_ref(), Some(&written));
    read_alike(&written);
    // The rest of the description is the function's own docstring, and what it says is its author's.
    let steps = sentences(&written);
    let scenario = steps.iter().position(|line| line.starts_with("Scenario"));
    let (description, steps) = steps.split_at(scenario.unwrap_or(steps.len()));
    let must_hold = description
        .iter()
        .filter(|line| line.starts_with("This must hold for "));
    let steps: Vec<&str> = must_hold.chain(steps).copied().collect();
    assert!(!steps.is_empty(), "{}: {name}:\n{written}", subject.file);
    for step in &steps {
        if let Some(fault) = fault(step, words) {
            sweep
                .faults
                .push(format!("{}: {name}: {fault}:\n    {step}", subject.file));
        }
    }
    sweep.functions += 1;
    sweep.given += usize::from(property.is_given);
    sweep.sentences += steps.len();
    sweep.leaks += steps.iter().map(|step| measure::leaks(step)).sum::<usize>();
}

#[test]
#[allow(
    clippy::print_stdout,
    reason = "those who sweep over all there is want to know how much that was"
)]
fn whatever_asserts_something_can_be_told() {
    let wanted = std::env::var("SWEEP").ok();
    let all = wanted.is_some();
    let library = match wanted.filter(|wanted| wanted != "all") {
        Some(folder) => PathBuf::from(folder),
        None => match library() {
            Some(library) => library,
            None => return,
        },
    };
    let mut paths = Vec::new();
    files(&library, &mut paths);
    let vocabulary = Vocabulary::default();
    let speaker = Speaker::new(&vocabulary);
    let mut sweep = Sweep::default();
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if !(text.contains("assert") || text.contains("@given"))
            || (sweep.functions >= FUNCTIONS && !all)
        {
            continue;
        }
        let Ok(module) = tree::module(&text) else {
            continue;
        };
        let mut names = Vec::new();
        asserting(&module.body, None, &mut names);
        let Ok(subject) = Subject::read(&path.to_string_lossy(), &text) else {
            continue;
        };
        let words = words_of_names(&text);
        for name in names {
            tell(&subject, &name, &words, &speaker, &mut sweep);
        }
    }
    println!(
        "{} functions, {} of them run by Hypothesis, {} sentences, {} leaks, {} faults",
        sweep.functions,
        sweep.given,
        sweep.sentences,
        sweep.leaks,
        sweep.faults.len()
    );
    let some: Vec<&String> = sweep.faults.iter().take(20).collect();
    assert!(some.is_empty(), "{some:#?}");
    assert!(
        all || sweep.functions > 100,
        "only {} functions were found in {}",
        sweep.functions,
        library.display()
    );
}
