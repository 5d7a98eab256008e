//! Mutation of correct harnesses into broken ones.

use testwright_core::Random;

/// Pieces of the language, and text that parsers trip over.
const PIECES: &[&str] = &[
    "pool: <x> 3\n",
    "pool: %Y% 2 REF\n",
    "pool: <x> 3, <y> 2\n",
    "pool: 3 <x>\n",
    "pool: <my x> 3\n",
    "pool : ",
    "actions\n",
    "action: ",
    "Pool: ",
    "{E} expect: ",
    "{E} init: ",
    "=> <x> == 1, \"m\"; print(<x,1>); <x,1> := 2",
    "< x >",
    "<x.y>",
    "<x,y>",
    "<(1..3)>",
    "<1,2,3>",
    "<[1...5]>",
    "<[1-5]>",
    "<[1,2,]>",
    "<[a..z]>",
    "import x\n",
    "assert (<x>, 1)",
    "yield <x>",
    "(<x>, 'm')",
    "pre(<x>)",
    "&& ",
    "ref:<x>",
    "reference: a => b\n",
    "pools:\n",
    "actions:\n",
    "properties:\n",
    "references:\n",
    "compares:\n",
    "inits:\n",
    "logs:\n",
    "sources:\n",
    "property: ",
    "init: ",
    "finally: ",
    "log: POST 1 ",
    "assume: ",
    "hint: ",
    "exception: ",
    "reference: ",
    "compare: ",
    "source: ",
    "feature: ",
    "expect: ",
    " ==> ",
    " -> ",
    " => ",
    "; ",
    " := ",
    ":=",
    "<x>",
    "<x,1>",
    "<x,0>",
    "<x,99999999999999999999>",
    "%Y%",
    "%Y,1%",
    "%Y , 1%",
    "~<x>",
    "REF:<x>",
    "REF:%Y,1%",
    "<[1..3]>",
    "<[3..1]>",
    "<[-9223372036854775808..9223372036854775807]>",
    "<['a'..'z']>",
    "<1..10>",
    "<[1,2,(3,4)]>",
    "<[f(,g(]>",
    "<,[a,,b,,<x>],>",
    "%,[,,],%",
    "<[",
    "]>",
    "<,[",
    "],>",
    "%[",
    "]%",
    "<[]>",
    "<>",
    "pre<(",
    ")>",
    "PRE%(",
    ")%",
    "pre<(<x,1>)>",
    "{",
    "}",
    "{ValueError}",
    "{!E,F}",
    "{}",
    "*3 ",
    "*99999999999999 ",
    "*-1 ",
    "<@\n",
    "@>\n",
    "@",
    "@import avl\n",
    "@def f(x):\n@    return pre<(x)>\n",
    "def guardedF(a):\n    %COMMIT%\n",
    "guardedF(<x>)",
    "METHOD(f)",
    "CALL(g)",
    "CONST",
    "OPAQUE",
    "OPAQUEREF",
    "ABSTRACT len",
    ": int",
    "#ESSENTIAL",
    "# comment",
    "\\\n",
    "\\",
    "'",
    "\"",
    "'''",
    "\"\"\"",
    "f\"{<x>}\"",
    "(",
    ")",
    "[",
    "]",
    "\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "\u{0}",
    "\u{feff}",
    "é",
    "深",
    "🦀",
    "\u{301}",
    "\u{2028}",
    "print \"a\"",
    "except E, e:",
    "`x`",
    "0777",
    "lambda: ",
    "raised",
    "refRaised",
    "result_REF",
    "if <x>: ",
    "for i in <x>: ",
    "99999999999999999999",
    "0",
    "-1",
];

/// Maximum length of a harness. Longer ones only slow the search down.
const MAX_LENGTH: usize = 20_000;

/// Returns a harness of the corpus with a few random changes.
pub(crate) fn mutate(corpus: &[String], random: &mut Random) -> String {
    let mut text: Vec<char> = pick(corpus, random).chars().collect();
    for _ in 0..=random.below(8) {
        mutate_once(&mut text, corpus, random);
        text.truncate(MAX_LENGTH);
    }
    text.into_iter().collect()
}

/// Picks a harness of the corpus.
fn pick<'a>(corpus: &'a [String], random: &mut Random) -> &'a str {
    corpus
        .get(random.below(corpus.len() as u64) as usize)
        .map_or("", String::as_str)
}

/// Makes one random change: inserts, removes, repeats or moves text.
fn mutate_once(text: &mut Vec<char>, corpus: &[String], random: &mut Random) {
    let position = random.below(text.len() as u64 + 1) as usize;
    let length = (random.below(12) as usize).min(text.len() - position);
    match random.below(8) {
        0..=2 => insert(
            text,
            position,
            PIECES[random.below(PIECES.len() as u64) as usize],
        ),
        3 => drop(text.drain(position..position + length)),
        4 => {
            let piece: String = text[position..position + length].iter().collect();
            insert(text, position, &piece);
        }
        5 => {
            let target = random.below(text.len() as u64 + 1) as usize;
            let piece: String = text[position..position + length].iter().collect();
            insert(text, target, &piece);
        }
        6 => {
            let lines: Vec<&str> = pick(corpus, random).lines().collect();
            let line = lines
                .get(random.below(lines.len() as u64) as usize)
                .copied()
                .unwrap_or_default();
            insert(text, position, &format!("{line}\n"));
        }
        _ => text.truncate(position),
    }
}

/// Inserts text at a position.
fn insert(text: &mut Vec<char>, position: usize, piece: &str) {
    text.splice(position..position, piece.chars());
}
