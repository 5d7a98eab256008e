//! `pool:` lines.

use std::collections::BTreeMap;
use std::ops::Range;

use testwright_core::PoolId;

use crate::diagnostics::Diagnostic;
use crate::harness::Pool;
use crate::host::{self, Syntax};
use crate::keywords::{Declaration, Keyword};
use crate::spelling;

/// All pools of a harness, by name.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    pub(crate) declared: Vec<Pool>,
    /// Where the name stands in the file, for each pool.
    pub(crate) places: Vec<Range<usize>>,
    /// Declared as `%NAME%`, for each pool.
    pub(crate) old_notation: Vec<bool>,
    by_name: BTreeMap<String, PoolId>,
}

impl Pools {
    /// The pool with this name.
    pub(crate) fn find(&self, name: &str) -> Option<PoolId> {
        self.by_name.get(name).copied()
    }

    /// What to do about a name that is no pool.
    pub(crate) fn advice(&self, name: &str) -> String {
        let names = self.declared.iter().map(|pool| pool.name.as_str());
        match spelling::nearest(name, names) {
            Some(near) => {
                format!("declare it with `pool: <{name}> 2`; a pool `<{near}>` exists")
            }
            None => format!("declare it with `pool: <{name}> 2`"),
        }
    }
}

/// Reads the `pool:` lines.
pub(crate) fn read(declarations: &[Declaration<'_>], diagnostics: &mut Vec<Diagnostic>) -> Pools {
    let mut pools = Pools::default();
    for declaration in declarations {
        if declaration.keyword == Keyword::Pool {
            let mut reader = PoolReader {
                declaration,
                diagnostics,
            };
            if let Some((pool, name)) = reader.pool() {
                let old_notation = declaration.line.text[name.clone()].starts_with('%');
                pools.add(pool, declaration.place(&name), old_notation, diagnostics);
            }
        }
    }
    pools.twins_are_free(diagnostics);
    pools
}

impl Pools {
    fn add(
        &mut self,
        pool: Pool,
        place: Range<usize>,
        old_notation: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let Some(id) = self.find(&pool.name) else {
            self.by_name
                .insert(pool.name.clone(), PoolId(self.declared.len()));
            self.declared.push(pool);
            self.places.push(place);
            self.old_notation.push(old_notation);
            return;
        };
        diagnostics.push(
            Diagnostic::warning(
                "pool-declared-twice",
                place,
                format!(
                    "the pool `<{}>` is declared twice; the later size counts",
                    pool.name
                ),
            )
            .with_label("declared again")
            .with_related(self.places[id.0].clone(), "first declared here"),
        );
        let first = &mut self.declared[id.0];
        first.size = pool.size;
        first.reference |= pool.reference;
        first.constant |= pool.constant;
        first.opaque |= pool.opaque;
        first.opaque_twin |= pool.opaque_twin;
        first.abstraction = pool.abstraction.or(first.abstraction.take());
        first.type_name = pool.type_name.or(first.type_name.take());
    }

    /// A pool may not have the name of another one's reference twin.
    fn twins_are_free(&self, diagnostics: &mut Vec<Diagnostic>) {
        for (pool, place) in self.declared.iter().zip(&self.places) {
            let twin = self.find(&format!("{}_REF", pool.name));
            if let (true, Some(twin)) = (pool.reference, twin) {
                let name = &self.declared[twin.0].name;
                diagnostics.push(
                    Diagnostic::error(
                        "pool-is-twin",
                        self.places[twin.0].clone(),
                        format!(
                            "`{name}` is the reference twin of the pool `<{}>`",
                            pool.name
                        ),
                    )
                    .with_label("the name is taken")
                    .with_related(place.clone(), "declared with `REF` here")
                    .with_help("choose another name"),
                );
            }
        }
    }
}

struct PoolReader<'a, 'd> {
    declaration: &'a Declaration<'a>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// The largest pool: a bigger one is a mistake, and every slot costs memory.
const LARGEST_POOL: u32 = 1_000_000;

const FLAGS: [&str; 5] = ["REF", "CONST", "OPAQUE", "OPAQUEREF", "ABSTRACT"];

const EXAMPLE: &str =
    "write `pool: <name> 3`: the name in angle brackets, then the number of slots";

impl<'a> PoolReader<'a, '_> {
    fn pool(&mut self) -> Option<(Pool, Range<usize>)> {
        let words = self.words();
        let mut words = words.iter();
        let Some(name) = words.next() else {
            let place = self.declaration.whole();
            let problem = Diagnostic::error("bad-pool", place, "the pool has no name").with_help(
                format!("{EXAMPLE}; a section of pools starts with `pools:`"),
            );
            self.diagnostics.push(problem);
            return None;
        };
        let text = self.name(name)?;
        // A pool of doubtful size is better than none: every line that names it would be wrong too.
        let size = self.size(name, words.next()).unwrap_or(1);
        let mut pool = Pool {
            name: text,
            size,
            reference: false,
            constant: false,
            opaque: false,
            opaque_twin: false,
            abstraction: None,
            type_name: None,
            line: self.declaration.line.number,
        };
        while let Some(word) = words.next() {
            self.flag(&mut pool, word, &mut words);
        }
        Some((pool, name.clone()))
    }

    /// The words of the content, without comment.
    fn words(&self) -> Vec<Range<usize>> {
        let content = self.declaration.content.clone();
        let text = self.declaration.text();
        let mut words = Vec::new();
        let mut at = 0;
        for word in text.split(char::is_whitespace) {
            if word.starts_with('#') {
                break;
            }
            if !word.is_empty() {
                words.push(content.start + at..content.start + at + word.len());
            }
            at += word.len();
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
        words
    }

    fn word(&self, range: &Range<usize>) -> &'a str {
        &self.declaration.line.text[range.clone()]
    }

    fn error(&mut self, name: &'static str, range: &Range<usize>, message: String, help: &str) {
        let place = self.declaration.place(range);
        let problem = Diagnostic::error(name, place, message).with_help(help);
        self.diagnostics.push(problem);
    }

    fn name(&mut self, range: &Range<usize>) -> Option<String> {
        let word = self.word(range);
        let bare = word
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'))
            .or_else(|| word.strip_prefix('%')?.strip_suffix('%'));
        let is_name = |name: &&str| !name.is_empty() && name.chars().all(host::continues_name);
        if let Some(name) = bare.filter(is_name) {
            return Some(name.to_owned());
        }
        let message = match bare {
            Some(_) => format!("`{word}` is not the name of a pool"),
            None => format!("the name of a pool stands in angle brackets, not `{word}`"),
        };
        let help = "use letters, digits and underscores: `pool: <name> 3`";
        self.error("bad-pool-name", range, message, help);
        is_name(&word).then(|| word.to_owned())
    }

    fn size(&mut self, name: &Range<usize>, size: Option<&Range<usize>>) -> Option<u32> {
        let Some(range) = size else {
            let message = format!("the pool `{}` has no size", self.word(name));
            self.error("bad-pool-size", name, message, EXAMPLE);
            return None;
        };
        let word = self.word(range);
        if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("the size of a pool is a number, not `{word}`");
            let help = match word {
                ":=" => "actions start with a header `actions:`",
                _ => EXAMPLE,
            };
            self.error("bad-pool-size", range, message, help);
            return None;
        }
        match word.parse::<u32>() {
            Ok(0) => {
                let problem = Diagnostic::warning(
                    "empty-pool",
                    self.declaration.place(range),
                    "a pool without slots: every action that names it vanishes",
                )
                .with_label("no slots");
                self.diagnostics.push(problem);
                Some(0)
            }
            Ok(size) if size <= LARGEST_POOL => Some(size),
            _ => {
                let message = format!("a pool can have at most {LARGEST_POOL} slots");
                self.error(
                    "bad-pool-size",
                    range,
                    message,
                    "a handful is usually enough",
                );
                None
            }
        }
    }

    fn flag<'w>(
        &mut self,
        pool: &mut Pool,
        range: &Range<usize>,
        following: &mut impl Iterator<Item = &'w Range<usize>>,
    ) {
        let word = self.word(range);
        match word {
            "REF" => pool.reference = true,
            "CONST" => pool.constant = true,
            "OPAQUE" => pool.opaque = true,
            "OPAQUEREF" => pool.opaque_twin = true,
            "ABSTRACT" => pool.abstraction = self.argument(range, following.next()),
            ":" => pool.type_name = self.argument(range, following.next()),
            _ if word.starts_with(':') => {
                pool.type_name = self.expression(&(range.start + 1..range.end));
            }
            _ => self.unknown_flag(range, word),
        }
    }

    fn argument(&mut self, flag: &Range<usize>, argument: Option<&Range<usize>>) -> Option<String> {
        if let Some(range) = argument {
            return self.expression(range);
        }
        let (message, help) = match self.word(flag) {
            ":" => (
                "`:` must be followed by a type",
                "write `pool: <x> 3 : int`",
            ),
            _ => (
                "`ABSTRACT` must be followed by a function",
                "write `pool: <x> 3 ABSTRACT len`",
            ),
        };
        self.error("bad-pool-flag", flag, message.to_owned(), help);
        None
    }

    fn expression(&mut self, range: &Range<usize>) -> Option<String> {
        let text = self.word(range);
        if let Some(trouble) = host::check(Syntax::Expression, text).first() {
            let message = format!("`{text}` is not an expression: {}", trouble.message);
            self.error("bad-pool-flag", range, message, "it may not contain blanks");
            return None;
        }
        Some(text.to_owned())
    }

    fn unknown_flag(&mut self, range: &Range<usize>, word: &str) {
        let help = match spelling::nearest(word, FLAGS) {
            Some(meant) => format!("did you mean `{meant}`? Flags are written in capitals"),
            None => format!("the flags are {}, and `: type`", FLAGS.join(", ")),
        };
        self.diagnostics.push(
            Diagnostic::warning(
                "unknown-flag",
                self.declaration.place(range),
                format!("`{word}` is not a flag of pools, so it is ignored"),
            )
            .with_label("ignored")
            .with_help(help),
        );
    }
}
