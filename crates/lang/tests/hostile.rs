//! Hostile texts: `parse` never panics, never points outside of the text, and takes no longer than
//! it should.

use testwright_lang::{Severity, parse};

/// Parses a text, and checks what all diagnostics have in common.
#[track_caller]
fn survives(text: &str) {
    let (harness, diagnostics) = parse(text);
    let mut last = 0;
    for diagnostic in &diagnostics {
        let range = &diagnostic.range;
        assert!(
            text.get(range.clone()).is_some(),
            "{diagnostic:?} in {text:?}"
        );
        if let Some((related, _)) = &diagnostic.related {
            assert!(
                text.get(related.clone()).is_some(),
                "{diagnostic:?} in {text:?}"
            );
        }
        assert!(
            range.start >= last,
            "not in order: {diagnostics:?} in {text:?}"
        );
        last = range.start;
        assert!(!diagnostic.message.ends_with('.'), "{diagnostic:?}");
    }
    let is_error = |severity: Severity| severity == Severity::Error;
    if !diagnostics
        .iter()
        .any(|diagnostic| is_error(diagnostic.severity))
    {
        assert_eq!(harness.actions.len(), harness.catalog.templates().len());
        let count = harness.catalog.len();
        for id in [0, count / 2, count.saturating_sub(1)] {
            if id < count {
                harness.catalog.text(testwright_core::ActionId(id));
            }
        }
    }
}

/// Pieces of text with a meaning in the language, and some without.
const PIECES: &[&str] = &[
    "<x>",
    "<x,1>",
    "<x,0>",
    "<x,99999999999999999999>",
    "%x%",
    "%Y , 1%",
    "<[",
    "]>",
    "%[",
    "]%",
    "<,[",
    "],>",
    "],%",
    "1..3",
    "'a'..'z'",
    "<1..10>",
    "<[1..9]>",
    "..",
    "...",
    ",",
    ",,",
    "->",
    "=>",
    "==>",
    ":=",
    ";",
    "; ",
    "~",
    "REF:",
    "pre<(",
    ")>",
    "PRE%(",
    ")%",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'",
    "\"\"\"",
    "f\"{",
    "}\"",
    "#",
    "#ESSENTIAL",
    "\\",
    "\\\n",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "  ",
    "\u{feff}",
    "\0",
    "é",
    "中",
    "\u{1F600}",
    "<@\n",
    "\n@>\n",
    "\n@",
    "@",
    "pool: ",
    "pools:\n",
    "actions:\n",
    "property: ",
    "init: ",
    "log: ",
    "reference: ",
    "compare: ",
    "expect: ",
    "*3 ",
    "*99999999999 ",
    "pool: <x> 2\n",
    "pool: %Y% 1 REF\n",
    "pool: <z> 99999999999\n",
    "def guardedA(",
    "guardedA(1)",
    "%COMMIT%",
    "lambda a, b: ",
    "x",
    "y.f",
    "1",
    "0x",
    "=",
    "==",
    "<",
    "<<",
    "<<<",
    ">",
    ">>",
    "%",
    "-",
    "*",
    "**",
    ":",
    ".",
    "print x",
    "`",
    "$",
    "import a",
    "def f():\n",
    "return",
    "METHOD(",
    "CALL(f) ==> METHOD(g)",
    "ABSTRACT",
    "POST 1 ",
];

/// Checks texts that the fuzzer found.
#[test]
fn once_broken() {
    for text in [
        "properties:\ninit\u{2028}: x\nactions:\ny()\n",
        "pool: <[:\u{6df1}(int)nt> 3\nx()\n",
    ] {
        survives(text);
    }
}

#[test]
fn random_texts() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % limit as u64).unwrap_or(0)
    };
    for round in 0..10_000 {
        let length = 1 + random(if round % 2 == 0 { 15 } else { 50 });
        let text: String = (0..length).map(|_| PIECES[random(PIECES.len())]).collect();
        survives(&text);
    }
}

#[test]
fn damaged_harnesses() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    for entry in std::fs::read_dir(folder).expect("there are inputs") {
        let path = entry.expect("it can be read").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "tstl")
        {
            let text = std::fs::read_to_string(path).expect("it is text");
            for (at, letter) in text.char_indices().step_by(3) {
                survives(&text[..at]);
                let end = at + letter.len_utf8();
                survives(&format!("{}{}", &text[..at], &text[end..]));
            }
        }
    }
}

#[test]
fn deep_and_long_texts() {
    for piece in [
        "(", "[", "<[", "<,[", "<[1,", "pre<(", "{", "f\"{", "lambda:", "~", "<x", "%", "<",
        "\\\n", "*1 ", "@", "<@\n", "-> ", "=> ",
    ] {
        for prefix in ["", "pool: <x> 2\n", "x = ", "<@\n", "x() => "] {
            survives(&format!("{prefix}{}", piece.repeat(3_000)));
        }
    }
    survives(&"x\\\n".repeat(10_000));
    survives(&format!("f({})", "<[1,2]>,".repeat(2_000)));
    survives(&format!("pool: <x> 1\nf({})", "<x>,".repeat(2_000)));
    survives(&format!("pool: <x> 1\nf({})", "<,[<x>],>,".repeat(300)));
}
