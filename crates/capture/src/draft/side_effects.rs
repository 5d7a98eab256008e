//! Effects of calls on the world outside of the program.
//!
//! A harness calls functions thousands of times with unchecked values, so actions that may delete a
//! file or start a program are left out of a draft. A recording shows the effects of a call; for
//! definitions that were never called, the source is searched.

use std::collections::{BTreeMap, BTreeSet};

use testwright_source::{Token, TokenKind, tokenize};

use super::public_api::PublicApi;
use crate::inspect::{CodeDefinition, ProjectModule};
use crate::recording::{Call, ExternalSource, Interaction};

/// Describes the lasting effect of a recorded call on the outside, as the end of "it …"; `None` if
/// it has none.
pub(super) fn recorded_effect(call: &Call) -> Option<String> {
    let event = call.events.iter().find_map(|event| match &event.external {
        Interaction::File {
            path,
            before,
            after,
        } if before != after => Some(format!("changes the file `{}`", file_name(path))),
        Interaction::Input { .. } => Some("reads from the keyboard".to_owned()),
        Interaction::WorkingFolder { before, after } if before != after => {
            Some("changes the current folder".to_owned())
        }
        Interaction::Permissions { path, .. } => {
            Some(format!("changes the permissions of `{}`", file_name(path)))
        }
        Interaction::Environment {
            name,
            before,
            after,
        } if before != after => Some(format!("changes the environment variable `{name}`")),
        Interaction::Called {
            source, function, ..
        } => match source {
            ExternalSource::Process => Some(format!("starts another program (`{function}`)")),
            ExternalSource::Network => Some(format!("talks to the network (`{function}`)")),
            ExternalSource::Clock if function.ends_with("sleep") => {
                Some(format!("waits (`{function}`)"))
            }
            // A warning has no effect, because a harness does not show it.
            ExternalSource::Interpreter if function == "warnings.warn" => None,
            ExternalSource::Interpreter => Some(format!("changes the interpreter (`{function}`)")),
            ExternalSource::Clock | ExternalSource::Random | ExternalSource::Host => None,
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

/// Returns true if a recorded call used a file.
pub(super) fn reads_files(call: &Call) -> bool {
    let is_file = |external: &Interaction| matches!(external, Interaction::File { .. });
    call.events.iter().any(|event| is_file(&event.external))
}

/// Returns the last component of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The sources of modules, with queries about the effects of their definitions.
pub(super) struct SourceTexts<'a> {
    /// The public API of the modules.
    api: &'a PublicApi<'a>,
    /// The sources, by module.
    texts: BTreeMap<String, String>,
    /// Those of the [`METHODS`] that the modules define with another meaning, such as `unlink` of a
    /// linked list.
    own_methods: BTreeSet<&'static str>,
}

/// Modules whose use always counts as an effect, with a description.
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

/// Names in `os` without effects.
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

/// Methods that change files, whatever object they are called on.
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

impl<'a> SourceTexts<'a> {
    /// Reads the sources of modules.
    pub(super) fn read(
        api: &'a PublicApi<'a>,
        read: impl Fn(&ProjectModule) -> Option<String>,
    ) -> SourceTexts<'a> {
        let texts = api.modules.iter();
        let texts = texts.filter_map(|module| Some((module.name.clone(), read(module)?)));
        let mut texts = SourceTexts {
            api,
            texts: texts.collect(),
            own_methods: BTreeSet::new(),
        };
        texts.own_methods = METHODS
            .into_iter()
            .filter(|name| texts.has_harmless_definition(name))
            .collect();
        texts
    }

    /// Describes an effect of a definition by its own source, as the end of "it …".
    pub(super) fn own_effect(
        &self,
        module: &ProjectModule,
        definition: &CodeDefinition,
    ) -> Option<String> {
        let Some(text) = self.text(module, definition) else {
            return Some("cannot be read".to_owned());
        };
        let source_tokens = TokenText::tokenize(text);
        (0..source_tokens.tokens.len())
            .filter(|index| !self.own_methods.contains(source_tokens.word(*index)))
            .find_map(|index| source_tokens.effect_at(index, module))
    }

    /// Returns true if the modules define something of this name, and no such definition has an
    /// effect.
    fn has_harmless_definition(&self, name: &str) -> bool {
        let modules = self.api.modules.iter();
        let mut found = modules
            .flat_map(|module| module.definitions.iter().map(move |found| (*module, found)))
            .filter(|(_, definition)| definition.name == name)
            .peekable();
        found.peek().is_some()
            && found.all(|(module, found)| self.own_effect(module, found).is_none())
    }

    /// Describes an effect of a definition, or of any definition in the modules that it may call.
    pub(super) fn reachable_effect(
        &self,
        module: &'a ProjectModule,
        definition: &'a CodeDefinition,
    ) -> Option<String> {
        let reached = self.reachable_definitions(module, definition);
        let mut reached = reached.into_iter();
        reached.find_map(|(module, definition)| self.own_effect(module, definition))
    }

    /// Returns true if a definition, or anything that it may call, opens files, if only to read
    /// them.
    pub(super) fn opens_files(
        &self,
        module: &'a ProjectModule,
        definition: &'a CodeDefinition,
    ) -> bool {
        let reached = self.reachable_definitions(module, definition);
        reached.into_iter().any(|(module, definition)| {
            let source_tokens =
                TokenText::tokenize(self.text(module, definition).unwrap_or_default());
            source_tokens
                .names()
                .any(|name| matches!(name, "open" | "read_text" | "read_bytes"))
        })
    }

    /// Returns a definition and all definitions that it may call.
    fn reachable_definitions(
        &self,
        module: &'a ProjectModule,
        definition: &'a CodeDefinition,
    ) -> Vec<(&'a ProjectModule, &'a CodeDefinition)> {
        let mut seen = BTreeSet::new();
        let mut reached = Vec::new();
        let mut pending = vec![(module, definition)];
        while let Some((module, definition)) = pending.pop() {
            if !seen.insert((&module.name, definition.first_line)) {
                continue;
            }
            reached.push((module, definition));
            let source_tokens =
                TokenText::tokenize(self.text(module, definition).unwrap_or_default());
            let names: BTreeSet<&str> = source_tokens.names().collect();
            // Callees are found by name alone, which finds too many rather than too few.
            for module in &self.api.modules {
                let called = module.definitions.iter();
                let called = called.filter(|found| names.contains(found.name.as_str()));
                pending.extend(called.map(|found| (*module, found)));
            }
        }
        reached
    }

    /// Returns the source of a definition.
    fn text(&self, module: &ProjectModule, definition: &CodeDefinition) -> Option<&str> {
        self.texts.get(&module.name)?.get(definition.range.clone())
    }
}

/// A source text as tokens.
struct TokenText<'t> {
    /// The text.
    text: &'t str,
    /// Its tokens, without comments and line ends.
    tokens: Vec<Token>,
    /// The words that directly follow `import`.
    imported: BTreeSet<&'t str>,
}

impl<'t> TokenText<'t> {
    /// Splits a text into tokens.
    fn tokenize(text: &'t str) -> TokenText<'t> {
        let mut tokens = tokenize(text);
        tokens.retain(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Newline));
        let mut split = TokenText {
            text,
            tokens,
            imported: BTreeSet::new(),
        };
        split.imported = (1..split.tokens.len())
            .filter(|index| split.word(index - 1) == "import")
            .map(|index| split.word(index))
            .collect();
        split
    }

    /// Returns the text of a token; empty if there is none.
    fn word(&self, index: usize) -> &'t str {
        let range = self.tokens.get(index).map(|token| token.range.clone());
        range.and_then(|range| self.text.get(range)).unwrap_or("")
    }

    /// Returns all names.
    fn names(&self) -> impl Iterator<Item = &'t str> {
        let names = self.tokens.iter();
        let names = names.filter(|token| token.kind == TokenKind::Name);
        names.filter_map(|token| self.text.get(token.range.clone()))
    }

    /// Describes the effect of the name at an index, if it has one.
    fn effect_at(&self, index: usize, module: &ProjectModule) -> Option<String> {
        if self.tokens.get(index)?.kind != TokenKind::Name {
            return None;
        }
        let name = self.word(index);
        // A definition is no call.
        if index > 0 && self.word(index - 1) == "def" {
            return None;
        }
        let is_attribute = index > 0 && self.word(index - 1) == ".";
        if is_attribute {
            let changes = METHODS.contains(&name) && self.word(index + 1) == "(";
            return changes.then(|| format!("may change files (`{name}`)"));
        }
        let next = match self.word(index + 1) {
            "." => self.word(index + 2),
            _ => "",
        };
        // An import inside of the function itself.
        if matches!(self.word(index.wrapping_sub(1)), "import" | "from") {
            let rest = (index + 1..)
                .step_by(2)
                .take_while(|dot| self.word(*dot) == ".");
            let source_tokens = std::iter::once(name).chain(rest.map(|dot| self.word(dot + 1)));
            return library_effect(&source_tokens.collect::<Vec<&str>>().join("."));
        }
        let import = module
            .imports
            .iter()
            .find(|import| import.bound_name == name);
        if import.is_none() && self.imported.contains(name) {
            return library_effect(&format!("{name}.{next}"));
        }
        if let Some(import) = import {
            let whole = match (&import.name, next) {
                (Some(taken), _) => format!("{}.{taken}", import.module),
                (None, "") => import.module.clone(),
                (None, next) if import.module.contains('.') => format!("{}.{next}", name),
                (None, next) => format!("{}.{next}", import.module),
            };
            return library_effect(&whole);
        }
        if self.word(index + 1) != "(" {
            return None;
        }
        match name {
            "open" => self
                .opens_to_write(index + 1)
                .then(|| "may change files (`open`)".to_owned()),
            "input" | "breakpoint" => Some(format!("waits for a person (`{name}`)")),
            "exit" | "quit" => Some(format!("leaves the program (`{name}`)")),
            "exec" | "eval" => Some(format!("runs what it is given (`{name}`)")),
            _ => None,
        }
    }

    /// Returns true if a call of `open`, whose bracket is at an index, may do more than reading.
    fn opens_to_write(&self, bracket: usize) -> bool {
        let (mut depth, mut argument, mut mode) = (0_usize, 0, None);
        for index in bracket..self.tokens.len() {
            match self.word(index) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "," if depth == 1 => argument += 1,
                "mode" if depth == 1 && self.word(index + 1) == "=" => mode = Some(index + 2),
                _ if depth == 1
                    && argument == 1
                    && self.word(index - 1) == ","
                    && self.word(index + 1) != "=" =>
                {
                    mode = Some(index);
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

/// Describes the effect of a name in the standard library.
fn library_effect(whole: &str) -> Option<String> {
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
