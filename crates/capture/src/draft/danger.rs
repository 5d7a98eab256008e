//! What a call may do to the world outside of the program.
//!
//! A harness calls functions thousands of times with values that nobody has looked at, so whatever may delete a file or start a
//! program is left out of a draft. A recording tells what a call did; of what was never called, the text is read.

use std::collections::{BTreeMap, BTreeSet};

use testwright_source::{Token, TokenKind, tokens};

use super::surface::Surface;
use crate::inspect::{Definition, Module};
use crate::recording::{Call, External, Source};

/// What a recorded call did to the outside, as the end of "it …"; nothing if it did nothing that lasts.
pub(super) fn seen(call: &Call) -> Option<String> {
    let event = call.events.iter().find_map(|event| match &event.external {
        External::File {
            path,
            before,
            after,
        } if before != after => Some(format!("changes the file `{}`", file_name(path))),
        External::Input { .. } => Some("reads from the keyboard".to_owned()),
        External::WorkingFolder { before, after } if before != after => {
            Some("changes the current folder".to_owned())
        }
        External::Permissions { path, .. } => {
            Some(format!("changes the permissions of `{}`", file_name(path)))
        }
        External::Environment {
            name,
            before,
            after,
        } if before != after => Some(format!("changes the environment variable `{name}`")),
        External::Called {
            source, function, ..
        } => match source {
            Source::Process => Some(format!("starts another program (`{function}`)")),
            Source::Network => Some(format!("talks to the network (`{function}`)")),
            Source::Clock if function.ends_with("sleep") => Some(format!("waits (`{function}`)")),
            // A warning is a remark, and a harness is no place where anybody reads it.
            Source::Interpreter if function == "warnings.warn" => None,
            Source::Interpreter => Some(format!("changes the interpreter (`{function}`)")),
            Source::Clock | Source::Random | Source::Host => None,
        },
        _ => None,
    });
    let uncaptured = call.uncaptured.first();
    event.or_else(|| {
        Some(format!(
            "does something outside of the program (`{}`)",
            uncaptured?
        ))
    })
}

/// Whether a recorded call read a file.
pub(super) fn reads_files(call: &Call) -> bool {
    let is_file = |external: &External| matches!(external, External::File { .. });
    call.events.iter().any(|event| is_file(&event.external))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The texts of modules, read once, and what their functions may do.
pub(super) struct Texts<'a> {
    surface: &'a Surface<'a>,
    texts: BTreeMap<String, String>,
    /// Those of the [`METHODS`] that mean something else here: an item of a list has an `unlink`, too.
    own_methods: BTreeSet<&'static str>,
}

/// Modules of which every use counts.
const MODULES: [(&str, &str); 22] = [
    ("subprocess", "may start another program"),
    ("multiprocessing", "may start another program"),
    ("pty", "may start another program"),
    ("shutil", "may change files"),
    ("socket", "may talk to the network"),
    ("socketserver", "may talk to the network"),
    ("ssl", "may talk to the network"),
    ("http", "may talk to the network"),
    ("urllib.request", "may talk to the network"),
    ("ftplib", "may talk to the network"),
    ("smtplib", "may talk to the network"),
    ("imaplib", "may talk to the network"),
    ("xmlrpc", "may talk to the network"),
    ("requests", "may talk to the network"),
    ("httpx", "may talk to the network"),
    ("aiohttp", "may talk to the network"),
    ("urllib3", "may talk to the network"),
    ("webbrowser", "may start another program"),
    ("sqlite3", "may change files"),
    ("dbm", "may change files"),
    ("signal", "may stop the program"),
    ("ctypes", "may do anything"),
];

/// What of `os` changes nothing.
const HARMLESS: [&str; 26] = [
    "DirEntry",
    "PathLike",
    "access",
    "altsep",
    "cpu_count",
    "curdir",
    "devnull",
    "environ",
    "error",
    "extsep",
    "fsdecode",
    "fsencode",
    "fspath",
    "getcwd",
    "getenv",
    "getpid",
    "linesep",
    "listdir",
    "name",
    "pardir",
    "path",
    "pathsep",
    "scandir",
    "sep",
    "stat",
    "urandom",
];

/// Methods that change files, whatever they are called on.
const METHODS: [&str; 10] = [
    "unlink",
    "rmdir",
    "write_text",
    "write_bytes",
    "touch",
    "symlink_to",
    "hardlink_to",
    "rmtree",
    "mkdir",
    "chmod",
];

impl<'a> Texts<'a> {
    pub(super) fn of(
        surface: &'a Surface<'a>,
        read: impl Fn(&Module) -> Option<String>,
    ) -> Texts<'a> {
        let texts = surface.modules.iter();
        let texts = texts.filter_map(|module| Some((module.name.clone(), read(module)?)));
        let mut texts = Texts {
            surface,
            texts: texts.collect(),
            own_methods: BTreeSet::new(),
        };
        texts.own_methods = METHODS
            .into_iter()
            .filter(|name| texts.defines_without_danger(name))
            .collect();
        texts
    }

    /// What a definition may do by its own text, as the end of "it …".
    pub(super) fn own(&self, module: &Module, definition: &Definition) -> Option<String> {
        let Some(text) = self.text(module, definition) else {
            return Some("cannot be read".to_owned());
        };
        let words = Words::of(text);
        (0..words.tokens.len())
            .filter(|place| !self.own_methods.contains(words.word(*place)))
            .find_map(|place| words.danger(place, module))
    }

    /// Whether the modules define something of this name, and nothing of this name does anything to the outside.
    fn defines_without_danger(&self, name: &str) -> bool {
        let modules = self.surface.modules.iter();
        let mut found = modules
            .flat_map(|module| module.definitions.iter().map(move |found| (*module, found)))
            .filter(|(_, definition)| definition.name == name)
            .peekable();
        found.peek().is_some() && found.all(|(module, found)| self.own(module, found).is_none())
    }

    /// What a definition may do, or anything of these modules that it may call.
    pub(super) fn all(&self, module: &'a Module, definition: &'a Definition) -> Option<String> {
        let reached = self.reached(module, definition);
        let mut reached = reached.into_iter();
        reached.find_map(|(module, definition)| self.own(module, definition))
    }

    /// Whether a definition, or anything that it may call, opens files, if only to read them.
    pub(super) fn opens_files(&self, module: &'a Module, definition: &'a Definition) -> bool {
        let reached = self.reached(module, definition);
        reached.into_iter().any(|(module, definition)| {
            let words = Words::of(self.text(module, definition).unwrap_or_default());
            words
                .names()
                .any(|name| matches!(name, "open" | "read_text" | "read_bytes"))
        })
    }

    /// A definition and all that it may call.
    fn reached(
        &self,
        module: &'a Module,
        definition: &'a Definition,
    ) -> Vec<(&'a Module, &'a Definition)> {
        let mut seen = BTreeSet::new();
        let mut reached = Vec::new();
        let mut pending = vec![(module, definition)];
        while let Some((module, definition)) = pending.pop() {
            if !seen.insert((&module.name, definition.first_line)) {
                continue;
            }
            reached.push((module, definition));
            let words = Words::of(self.text(module, definition).unwrap_or_default());
            let names: BTreeSet<&str> = words.names().collect();
            // By name alone: rather one too many than one too few.
            for module in &self.surface.modules {
                let called = module.definitions.iter();
                let called = called.filter(|found| names.contains(found.name.as_str()));
                pending.extend(called.map(|found| (*module, found)));
            }
        }
        reached
    }

    fn text(&self, module: &Module, definition: &Definition) -> Option<&str> {
        self.texts.get(&module.name)?.get(definition.range.clone())
    }
}

/// A text as words.
struct Words<'t> {
    text: &'t str,
    tokens: Vec<Token>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Words<'t> {
        let mut tokens = tokens(text);
        tokens.retain(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Newline));
        Words { text, tokens }
    }

    fn word(&self, place: usize) -> &'t str {
        let range = self.tokens.get(place).map(|token| token.range.clone());
        range.and_then(|range| self.text.get(range)).unwrap_or("")
    }

    fn names(&self) -> impl Iterator<Item = &'t str> {
        let names = self.tokens.iter();
        let names = names.filter(|token| token.kind == TokenKind::Name);
        names.filter_map(|token| self.text.get(token.range.clone()))
    }

    fn danger(&self, place: usize, module: &Module) -> Option<String> {
        if self.tokens.get(place)?.kind != TokenKind::Name {
            return None;
        }
        let name = self.word(place);
        // Where it is defined, it is not called.
        if place > 0 && self.word(place - 1) == "def" {
            return None;
        }
        let is_attribute = place > 0 && self.word(place - 1) == ".";
        if is_attribute {
            let changes = METHODS.contains(&name) && self.word(place + 1) == "(";
            return changes.then(|| format!("may change files (`{name}`)"));
        }
        let next = match self.word(place + 1) {
            "." => self.word(place + 2),
            _ => "",
        };
        // An import inside of the function itself.
        if matches!(self.word(place.wrapping_sub(1)), "import" | "from") {
            let rest = (place + 1..)
                .step_by(2)
                .take_while(|dot| self.word(*dot) == ".");
            let words = std::iter::once(name).chain(rest.map(|dot| self.word(dot + 1)));
            return imported(&words.collect::<Vec<&str>>().join("."));
        }
        let import = module.imports.iter().find(|import| import.bound == name);
        if import.is_none() && self.imports_itself(name) {
            return imported(&format!("{name}.{next}"));
        }
        if let Some(import) = import {
            let whole = match (&import.name, next) {
                (Some(taken), _) => format!("{}.{taken}", import.module),
                (None, "") => import.module.clone(),
                (None, next) if import.module.contains('.') => format!("{}.{next}", name),
                (None, next) => format!("{}.{next}", import.module),
            };
            return imported(&whole);
        }
        if self.word(place + 1) != "(" {
            return None;
        }
        match name {
            "open" => self
                .opens_to_write(place + 1)
                .then(|| "may change files (`open`)".to_owned()),
            "input" | "breakpoint" => Some(format!("waits for somebody (`{name}`)")),
            "exit" | "quit" => Some(format!("leaves the program (`{name}`)")),
            "exec" | "eval" => Some(format!("runs what it is given (`{name}`)")),
            _ => None,
        }
    }

    fn imports_itself(&self, name: &str) -> bool {
        (1..self.tokens.len())
            .any(|place| self.word(place) == name && self.word(place - 1) == "import")
    }

    /// Whether a call of `open`, whose bracket is here, is for more than reading, or may be.
    fn opens_to_write(&self, bracket: usize) -> bool {
        let (mut depth, mut argument, mut mode) = (0_usize, 0, None);
        for place in bracket..self.tokens.len() {
            match self.word(place) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "," if depth == 1 => argument += 1,
                "mode" if depth == 1 && self.word(place + 1) == "=" => mode = Some(place + 2),
                _ if depth == 1
                    && argument == 1
                    && self.word(place - 1) == ","
                    && self.word(place + 1) != "=" =>
                {
                    mode = Some(place);
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let Some(mode) = mode else {
            return false;
        };
        let is_text = self
            .tokens
            .get(mode)
            .is_some_and(|token| token.kind == TokenKind::String);
        !is_text || self.word(mode).contains(['w', 'a', 'x', '+'])
    }
}

/// What something of Python's library may do, by its whole name.
fn imported(whole: &str) -> Option<String> {
    let is_of = |module: &str| {
        let rest = whole.strip_prefix(module);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if let Some(rest) = whole.strip_prefix("os.") {
        let first = rest.split('.').next().unwrap_or(rest);
        let harmless = HARMLESS.contains(&first);
        return (!harmless).then(|| format!("may change files or processes (`{whole}`)"));
    }
    let known = MODULES.iter().find(|(module, _)| is_of(module));
    if let Some((_, what)) = known {
        return Some(format!("{what} (`{whole}`)"));
    }
    match whole {
        "time.sleep" | "asyncio.sleep" => Some(format!("waits (`{whole}`)")),
        "sys.exit" => Some("leaves the program (`sys.exit`)".to_owned()),
        "sys.stdin" => Some("reads from the keyboard (`sys.stdin`)".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
