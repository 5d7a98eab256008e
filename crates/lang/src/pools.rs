//! Parses `pool:` lines.

use std::collections::BTreeMap;
use std::ops::Range;

use testwright_core::PoolId;

use crate::diagnostics::Diagnostic;
use crate::harness::Pool;
use crate::host::{self, SyntaxKind};
use crate::keywords::{Declaration, LineKeyword, shorten};
use crate::spelling;

/// All pools of a harness, by name.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    /// Pools in order of declaration.
    pub(crate) declared: Vec<Pool>,
    /// For each pool, the range of its name in the file.
    pub(crate) name_ranges: Vec<Range<usize>>,
    /// For each pool, whether it is declared as `%NAME%`.
    pub(crate) old_notation: Vec<bool>,
    /// Number of each pool by name.
    by_name: BTreeMap<String, PoolId>,
}

impl Pools {
    /// Returns the pool with this name.
    pub(crate) fn find(&self, name: &str) -> Option<PoolId> {
        self.by_name.get(name).copied()
    }

    /// Returns advice for a name that is not a pool.
    pub(crate) fn advice(&self, name: &str) -> String {
        let names = self.declared.iter().map(|pool| pool.name.as_str());
        match spelling::nearest(name, names) {
            Some(near) => {
                format!("did you mean `<{near}>`? Otherwise declare it: `pool: <{name}> 2`")
            }
            None => format!("declare it with `pool: <{name}> 2`"),
        }
    }
}

/// Parses the `pool:` lines.
pub(crate) fn read(declarations: &[Declaration<'_>], diagnostics: &mut Vec<Diagnostic>) -> Pools {
    let mut pools = Pools::default();
    for declaration in declarations {
        if declaration.keyword == LineKeyword::Pool {
            let mut reader = PoolReader {
                declaration,
                diagnostics,
            };
            if let Some((pool, name)) = reader.parse_pool() {
                let old_notation = declaration.line.text[name.clone()].starts_with('%');
                pools.add(
                    pool,
                    declaration.file_range(&name),
                    old_notation,
                    diagnostics,
                );
            }
        }
    }
    pools.check_twin_names(diagnostics);
    pools
}

impl Pools {
    /// Adds a pool, or merges it into one of the same name.
    fn add(
        &mut self,
        pool: Pool,
        location: Range<usize>,
        old_notation: bool,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let Some(id) = self.find(&pool.name) else {
            self.by_name
                .insert(pool.name.clone(), PoolId(self.declared.len()));
            self.declared.push(pool);
            self.name_ranges.push(location);
            self.old_notation.push(old_notation);
            return;
        };
        diagnostics.push(
            Diagnostic::warning(
                "pool-declared-twice",
                location,
                format!(
                    "the pool `<{}>` is declared twice; the later size counts",
                    pool.name
                ),
            )
            .with_label("declared again")
            .with_related(self.name_ranges[id.0].clone(), "first declared here"),
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

    /// Reports pools with the name of another one's reference twin.
    fn check_twin_names(&self, diagnostics: &mut Vec<Diagnostic>) {
        for (pool, location) in self.declared.iter().zip(&self.name_ranges) {
            let twin = self.find(&format!("{}_REF", pool.name));
            if let (true, Some(twin)) = (pool.reference, twin) {
                let name = &self.declared[twin.0].name;
                diagnostics.push(
                    Diagnostic::error(
                        "pool-is-twin",
                        self.name_ranges[twin.0].clone(),
                        format!(
                            "`{name}` is the reference twin of the pool `<{}>`",
                            pool.name
                        ),
                    )
                    .with_label("the name is taken")
                    .with_related(location.clone(), "declared with `REF` here")
                    .with_help("choose another name"),
                );
            }
        }
    }
}

/// Parser for one `pool:` line.
struct PoolReader<'a, 'd> {
    declaration: &'a Declaration<'a>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// Maximum size of a pool. Every slot costs memory, and a larger pool is a mistake.
const MAX_POOL: u32 = 1_000_000;

/// Flags that may follow the size.
const FLAGS: [&str; 5] = ["REF", "CONST", "OPAQUE", "OPAQUEREF", "ABSTRACT"];

/// Name in a declaration, as far as it can be understood.
enum PoolName {
    /// A correct name.
    Correct(String),
    /// A wrong name whose meaning is clear.
    Repaired(String),
    /// Text without a usable name.
    Unusable,
}

/// Returns the name in `<name>` or `%name%`.
fn name_inside_brackets(word: &str) -> Option<&str> {
    let bare = word
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .or_else(|| word.strip_prefix('%')?.strip_suffix('%'))?;
    (!bare.is_empty() && bare.chars().all(host::continues_name)).then_some(bare)
}

/// Returns true if a word is a decimal number.
fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the number in a text that has exactly one.
fn single_number(text: &str) -> Option<&str> {
    let mut numbers = text
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|part| !part.is_empty());
    numbers.next().filter(|_| numbers.next().is_none())
}

/// Help for a declaration that cannot be understood.
const EXAMPLE: &str =
    "write `pool: <name> 3`: the name in angle brackets, then the number of slots";

impl<'a> PoolReader<'a, '_> {
    /// Parses the line. Returns the pool with the range of its name.
    fn parse_pool(&mut self) -> Option<(Pool, Range<usize>)> {
        let words = self.words();
        let Some(first) = words.first() else {
            let location = self.declaration.line_range();
            let help = format!("{EXAMPLE}; a section of pools starts with `pools:`");
            self.report_bad_pool(location, "the pool has no name", help);
            return None;
        };
        let is_size = |range: &Range<usize>| is_number(self.word(range));
        if is_size(first) {
            return self.recover_size_first(&words);
        }
        let (name, text, used) = self.parse_name(&words);
        // A pool of doubtful size is better than none: every line that names it would be wrong too.
        let size = match text {
            PoolName::Correct(_) => self.parse_size(&name, &words[used..]),
            // The help has shown the whole correct line.
            PoolName::Repaired(_) => words[used..]
                .iter()
                .find_map(|word| self.word(word).parse().ok()),
            PoolName::Unusable => return None,
        };
        let (PoolName::Correct(text) | PoolName::Repaired(text)) = text else {
            return None;
        };
        let mut pool = self.with_name(text, size.unwrap_or(1));
        if size.is_some() {
            let mut words = words[used..].iter();
            words.next();
            while let Some(word) = words.next() {
                let number = words.clone().next().map(|next| self.word(next));
                let has_size = number.is_some_and(|number| is_number(number.trim_end_matches(',')));
                if has_size && name_inside_brackets(self.word(word)).is_some() {
                    self.report_several_pools(word.start);
                    break;
                }
                self.parse_flag(&mut pool, word, &mut words);
            }
        }
        Some((pool, name))
    }

    /// Creates a pool without flags.
    fn with_name(&self, name: String, size: u32) -> Pool {
        Pool {
            name,
            size,
            reference: false,
            constant: false,
            opaque: false,
            opaque_twin: false,
            abstraction: None,
            type_name: None,
            line: self.declaration.line.number,
        }
    }

    /// Reports an error about the whole declaration.
    fn report_bad_pool(&mut self, location: Range<usize>, message: &str, help: String) {
        self.diagnostics
            .push(Diagnostic::error("bad-pool", location, message).with_help(help));
    }

    /// Recovers from `pool: 3 <x>`.
    fn recover_size_first(&mut self, words: &[Range<usize>]) -> Option<(Pool, Range<usize>)> {
        let size = self.word(&words[0]);
        let name = words
            .get(1)
            .filter(|word| name_inside_brackets(self.word(word)).is_some());
        let Some(name) = name else {
            let location = self.declaration.file_range(&words[0]);
            let help =
                format!("write `pool: <name> {size}`: the name in angle brackets comes first");
            self.report_bad_pool(location, "the pool has no name", help);
            return None;
        };
        let word = self.word(name);
        let location = self.declaration.file_range(&(words[0].start..name.end));
        let help = format!("write `pool: {word} {size}`");
        self.report_bad_pool(location, "the name of a pool comes before its size", help);
        let pool = self.with_name(
            name_inside_brackets(word)?.to_owned(),
            size.parse().unwrap_or(1),
        );
        Some((pool, name.clone()))
    }

    /// Returns the ranges of the words of the content, without comment.
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

    /// Returns the text of a range.
    fn word(&self, range: &Range<usize>) -> &'a str {
        &self.declaration.line.text[range.clone()]
    }

    /// Reports an error with help.
    fn error(&mut self, name: &'static str, range: &Range<usize>, message: String, help: &str) {
        let location = self.declaration.file_range(range);
        let problem = Diagnostic::error(name, location, message).with_help(help);
        self.diagnostics.push(problem);
    }

    /// Parses the name. Returns its range, and the number of words it takes.
    fn parse_name(&mut self, words: &[Range<usize>]) -> (Range<usize>, PoolName, usize) {
        let first = words[0].clone();
        let word = self.word(&first);
        if let Some(name) = name_inside_brackets(word) {
            return (first, PoolName::Correct(name.to_owned()), 1);
        }
        // `<my int>` is a name of several words.
        let is_open = word.starts_with('<') && !word.contains('>');
        let end = words
            .iter()
            .position(|range| self.word(range).ends_with('>'))
            .filter(|_| is_open)
            .unwrap_or(0);
        let range = first.start..words[end].end;
        let text = self.word(&range);
        // `<int>[3]`, `(int)`, `<int`: strip everything around the name.
        let inner = text.trim_start_matches(['<', '(', '[', '{', '%', '"', '\'']);
        let inner = match inner.find(['>', '[', '(']) {
            Some(at) => &inner[..at],
            None => inner,
        };
        let inner = inner.trim_end_matches([')', ']', '}', '%', '"', '\'', ':', ',', '=']);
        let name: String = inner
            .chars()
            .map(|letter| {
                if host::continues_name(letter) {
                    letter
                } else {
                    '_'
                }
            })
            .collect();
        let size = words[end + 1..]
            .iter()
            .map(|word| self.word(word))
            .find(|word| is_number(word))
            .or_else(|| single_number(text.split_once(inner)?.1))
            .unwrap_or("3");
        let is_plain = text.chars().all(host::continues_name);
        let name = shorten(&name).replace('…', "");
        let text = shorten(text);
        let message = match text.starts_with('<') && text.ends_with('>') {
            _ if is_plain => {
                format!("the name of a pool stands in angle brackets, not plainly as `{text}`")
            }
            true => format!(
                "`{text}` cannot be the name of a pool: only letters, digits and underscores can"
            ),
            false => format!("the name of a pool stands in angle brackets, not `{text}`"),
        };
        if name.is_empty() {
            self.error("bad-pool-name", &range, message, EXAMPLE);
            return (range, PoolName::Unusable, end + 1);
        }
        let help = format!("write `pool: <{name}> {size}`");
        self.error("bad-pool-name", &range, message, &help);
        (range, PoolName::Repaired(name), end + 1)
    }

    /// Parses the size after a name.
    fn parse_size(&mut self, name: &Range<usize>, words: &[Range<usize>]) -> Option<u32> {
        let pool = self.word(name);
        let Some(range) = words.first() else {
            let message = format!("the pool `{pool}` has no size");
            let help = format!("write `pool: {pool} 3` for three slots");
            self.error("bad-pool-size", name, message, &help);
            return None;
        };
        let word = self.word(range);
        let starts_pool = |range: &Range<usize>| name_inside_brackets(self.word(range)).is_some();
        let word = match word.strip_suffix(',') {
            Some(size) if words.get(1).is_some_and(starts_pool) => size,
            _ => word,
        };
        if !is_number(word) {
            let message = if word.strip_prefix('-').is_some_and(is_number) {
                "the size of a pool is at least 1".to_owned()
            } else {
                format!("the size of a pool is a number, not `{}`", shorten(word))
            };
            let other = words.iter().map(|word| self.word(word));
            let size = other.clone().find(|word| is_number(word));
            let size = size.or_else(|| single_number(word)).unwrap_or("3");
            self.error(
                "bad-pool-size",
                range,
                message,
                &format!("write `pool: {pool} {size}`"),
            );
            return None;
        }
        match word.parse::<u32>() {
            Ok(0) => {
                let problem = Diagnostic::warning(
                    "empty-pool",
                    self.declaration.file_range(range),
                    "a pool without slots: every action that names it vanishes",
                )
                .with_label("no slots")
                .with_help(format!("write `pool: {pool} 1` for one slot"));
                self.diagnostics.push(problem);
                Some(0)
            }
            Ok(size) if size <= MAX_POOL => Some(size),
            _ => {
                let message = format!("a pool can have at most {MAX_POOL} slots");
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

    /// Reports `pool: <x> 3, <y> 2`. The second pool starts at `start`.
    fn report_several_pools(&mut self, start: usize) {
        let range = start..self.words().last().map_or(start, |last| last.end);
        let location = self.declaration.file_range(&range);
        let help = format!("write `pool: {}` on a line of its own", self.word(&range));
        self.report_bad_pool(location, "a `pool:` line declares one pool", help);
    }

    /// Parses a flag, and the word that follows it if it takes one.
    fn parse_flag<'w>(
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
            "ABSTRACT" => pool.abstraction = self.parse_argument(range, following.next()),
            ":" => pool.type_name = self.parse_argument(range, following.next()),
            _ if word.starts_with(':') => {
                pool.type_name = self.check_expression(&(range.start + 1..range.end));
            }
            _ => self.report_unknown_flag(range, word),
        }
    }

    /// Parses the expression after a flag.
    fn parse_argument(
        &mut self,
        flag: &Range<usize>,
        argument: Option<&Range<usize>>,
    ) -> Option<String> {
        if let Some(range) = argument {
            return self.check_expression(range);
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

    /// Checks that a word is a host expression.
    fn check_expression(&mut self, range: &Range<usize>) -> Option<String> {
        let text = self.word(range);
        if let Some(problem) = host::check(SyntaxKind::Expression, text).first() {
            let message = format!("`{text}` is not an expression: {}", problem.message);
            self.error(
                "bad-pool-flag",
                range,
                message,
                "write it in one piece, without blanks",
            );
            return None;
        }
        Some(text.to_owned())
    }

    /// Warns about a word that is not a flag.
    fn report_unknown_flag(&mut self, range: &Range<usize>, word: &str) {
        let help = match spelling::nearest(word, FLAGS) {
            Some(meant) if meant.eq_ignore_ascii_case(word) => {
                format!("write `{meant}`: flags are written in capitals")
            }
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("the flags are {}, and `: type`", FLAGS.join(", ")),
        };
        self.diagnostics.push(
            Diagnostic::warning(
                "unknown-flag",
                self.declaration.file_range(range),
                format!("`{word}` is not a flag of pools, so it is ignored"),
            )
            .with_label("ignored")
            .with_help(help),
        );
    }
}
