//! Tests of the messages for wrong harnesses.
//!
//! Every `bad/NAME.tstl` has beside it `NAME.txt`: the output of `testwright check NAME.tstl`, and
//! the exit status. Run with `UPDATE_EXPECTATIONS=1` to rewrite them, then read the difference
//! aloud: is the position right, is the cause said in plain words, is there help?

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use testwright_cli::{Terminal, run};

/// The minimum number of files: with fewer, some have got lost.
const MIN_FILES: usize = 60;

#[test]
fn every_mistake_is_explained() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    // Messages must contain the bare name of the file. No other test runs in this process.
    std::env::set_current_dir(&folder).expect("the folder exists");
    let update = std::env::var_os("UPDATE_EXPECTATIONS").is_some();
    let harnesses = files(&folder, "tstl");
    assert!(
        harnesses.len() >= MIN_FILES,
        "only {} files",
        harnesses.len()
    );
    let mut wrong = Vec::new();
    let mut all = String::new();
    for harness in &harnesses {
        let found = check_output(harness);
        let expectation = harness.with_extension("txt");
        if update {
            fs::write(&expectation, &found).expect("the expectation can be written");
        }
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        if found != expected {
            wrong.push(format!(
                "{}\n--- expected\n{expected}--- found\n{found}",
                harness.display()
            ));
        }
        all.push_str(&found);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let orphans: Vec<PathBuf> = files(&folder, "txt")
        .into_iter()
        .filter(|expectation| !expectation.with_extension("tstl").exists())
        .collect();
    assert!(orphans.is_empty(), "without a harness: {orphans:?}");
    let missing: Vec<String> = diagnostic_names()
        .into_iter()
        .filter(|name| !all.contains(&format!("[{name}]: ")))
        .collect();
    assert!(missing.is_empty(), "no bad harness shows {missing:?}");
}

/// Returns the output of `check` for a harness, and the exit status.
fn check_output(harness: &Path) -> String {
    let name = harness.file_name().expect("it is a file").to_owned();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let arguments = vec![OsString::from("check"), name];
    let status = run(arguments, &mut out, &mut err, Terminal::plain());
    let printed = [err, out].concat();
    let printed = String::from_utf8(printed).expect("it is text");
    format!("{printed}exit status {}\n", status.code())
}

/// Returns the files of a folder with this ending, sorted.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder can be read")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    files.sort();
    files
}

/// Finds the names that the language front end gives to problems: the first argument of `error(`
/// and `warning(`.
fn diagnostic_names() -> BTreeSet<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang/src");
    let inner = fs::read_dir(&sources).expect("the sources are there");
    let folders = inner.flatten().map(|entry| entry.path());
    let folders = folders.filter(|path| path.is_dir()).chain([sources]);
    let mut names = BTreeSet::new();
    for file in folders.flat_map(|folder| files(&folder, "rs")) {
        let text = fs::read_to_string(&file).expect("the source can be read");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for call in ["error(", "warning("] {
            for behind in code.split(call).skip(1) {
                let argument = behind.trim_start().strip_prefix('"');
                let name = argument.and_then(|argument| argument.split('"').next());
                names.extend(name.filter(|name| is_kebab_case(name)).map(str::to_owned));
            }
        }
    }
    assert!(
        names.len() > 40,
        "the sources were not understood: {names:?}"
    );
    names
}

/// Returns true if a name has only lower-case letters, digits and hyphens.
fn is_kebab_case(name: &str) -> bool {
    let is_part =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    name.chars().all(is_part)
}
