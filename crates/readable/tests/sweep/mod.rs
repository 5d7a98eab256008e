//! Sweeps over other people's code: finding it, and checking the sentences about it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use testwright_readable::words::humanise;
use testwright_source::{TokenKind, tokenize};

/// Words that never follow themselves or each other.
const ARTICLES: [&str; 3] = ["a", "an", "the"];
const ONCE: [&str; 12] = [
    "of", "is", "are", "and", "or", "with", "to", "in", "than", "not", "every", "equals",
];
/// Words that need another one after them.
const UNFINISHED: [&str; 12] = [
    "a", "an", "the", "of", "and", "or", "with", "than", "equals", "because", "every", "if",
];

/// Returns the library of the Python that the extension is built for, with everything installed
/// there, or any other.
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

/// Returns all Python files of the library, or of the folder in `SWEEP`.
pub(crate) fn installed() -> Vec<PathBuf> {
    let wanted = std::env::var("SWEEP").ok().filter(|wanted| wanted != "all");
    let mut paths = Vec::new();
    if let Some(folder) = wanted.map(PathBuf::from).or_else(library) {
        files(&folder, &mut paths);
    }
    paths
}

/// Returns true if everything is read, however long that takes.
pub(crate) fn is_thorough() -> bool {
    std::env::var_os("SWEEP").is_some()
}

/// Returns the mistake in a sentence, if there is one. Words of names may stand anywhere.
pub(crate) fn fault(sentence: &str, names: &BTreeSet<String>) -> Option<String> {
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
    // An omission in a long list stands for words.
    let outside = outside.replace(" ...", " …");
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

/// Returns the sentence with `…` for each quotation, and true if the last one ends.
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

/// Returns the words of all names in a text.
pub(crate) fn words_of_names(text: &str) -> BTreeSet<String> {
    let names = tokenize(text)
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
