//! Fuzzes the language front end with broken harnesses until something breaks:
//! `make fuzz SECONDS=600`.
//!
//! Real harnesses from the tests and examples are mutated with pieces of the language. For any
//! text, parsing must not panic, must not take long, and must keep its promises about ranges and
//! actions. An input that breaks it is written to `fuzz/broken/`, and
//! `cargo run -p testwright-fuzz -- FILE` tries it again.
//!
//! It runs on stable Rust. The price is that mutations are blind, not guided by coverage. A large
//! dictionary and a corpus with every feature in it make up for much of that.

mod mutate;
mod promises;

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use testwright_core::Random;

/// Time limit for one harness, generous enough for a busy machine.
const MAX_TIME: Duration = Duration::from_secs(5);

#[expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program of its own, not part of the tool"
)]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [file] = arguments.as_slice()
        && Path::new(file).is_file()
    {
        let text = fs::read_to_string(file).expect("a file with text");
        return match find_failure(&text) {
            None => ExitCode::SUCCESS,
            Some(reason) => {
                eprintln!("{file}: {reason}");
                ExitCode::FAILURE
            }
        };
    }
    let number = |index: usize, usual| {
        arguments
            .get(index)
            .and_then(|text| text.parse().ok())
            .unwrap_or(usual)
    };
    let (seconds, seed): (u64, u64) = (number(0, 60), number(1, 1));
    let corpus = corpus();
    println!(
        "mutating {} harnesses for {seconds} s, seed {seed}",
        corpus.len()
    );
    panic::set_hook(Box::new(|_| {}));
    let mut random = Random::new(seed);
    let started = Instant::now();
    let mut inputs: u64 = 0;
    while started.elapsed() < Duration::from_secs(seconds) {
        let text = mutate::mutate(&corpus, &mut random);
        inputs += 1;
        if let Some(reason) = find_failure(&text) {
            let file = save_input(&text, inputs);
            eprintln!("{}: {reason}", file.display());
            return ExitCode::FAILURE;
        }
    }
    println!("{inputs} inputs, nothing broken");
    ExitCode::SUCCESS
}

/// Returns the reason if the front end does not survive a text.
fn find_failure(text: &str) -> Option<String> {
    let started = Instant::now();
    let outcome = panic::catch_unwind(|| promises::broken_promise(text));
    let elapsed = started.elapsed();
    match outcome {
        Err(panicked) => {
            let words = panicked.downcast_ref::<String>().cloned();
            let words = words.or_else(|| {
                panicked
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
            });
            Some(format!("panicked: {}", words.unwrap_or_default()))
        }
        Ok(Some(promise)) => Some(promise),
        Ok(None) if elapsed > MAX_TIME => Some(format!("took {elapsed:?}")),
        Ok(None) => None,
    }
}

/// Returns all harnesses of the repository.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["crates/lang/tests", "crates/cli/tests/bad", "examples"] {
        collect_harnesses(&root.join(folder), &mut files);
    }
    files.sort();
    files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect()
}

/// Adds the harnesses below a folder.
fn collect_harnesses(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect_harnesses(&path, files);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "tstl")
        {
            files.push(path);
        }
    }
}

/// Saves an input that breaks the front end.
fn save_input(text: &str, number: u64) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("broken");
    let file = folder.join(format!("{number}.tstl"));
    if fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, text))
        .is_err()
    {
        return PathBuf::from("(could not be saved)");
    }
    file
}
