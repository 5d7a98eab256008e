//! How a draft is laid out.

use std::collections::BTreeMap;

use super::action::{Action, Callee, What};
use super::drafter::PooledClass;
use super::files::Files;
use super::pools::{Pool, Settled, Source};
use super::sample::Kind;

/// Lines with several values are at most this long.
const WIDTH: usize = 92;

/// Comments behind actions are aligned as long as that leaves the actions this narrow.
const MARGIN: usize = 64;

/// What the head of a draft says.
pub(super) struct Head<'a> {
    pub(super) modules: &'a [String],
    pub(super) file: &'a str,
    pub(super) imports: Vec<String>,
    /// What the modules are called in `source:` lines.
    pub(super) sources: Vec<String>,
    /// Whether they are in the folder `src`.
    pub(super) is_in_source_folder: bool,
    /// How many recorded calls it comes from.
    pub(super) calls: usize,
    /// How many tests were written beside it.
    pub(super) tests: usize,
    /// Exceptions that any call may raise.
    pub(super) exceptions: Vec<String>,
}

/// Writes a draft line by line.
pub(super) struct Page<'a, 'p> {
    pub(super) files: &'p Files,
    pub(super) classes: &'p [PooledClass<'a>],
    pub(super) sizes: &'p BTreeMap<usize, usize>,
    pub(super) actions: &'p [Action<'a>],
    pub(super) settled: &'p Settled,
    pub(super) lines: Vec<String>,
}

/// A line and what is said about it.
struct Remarked {
    line: String,
    remark: String,
}

impl Page<'_, '_> {
    /// The whole text.
    pub(super) fn text(mut self, head: &Head<'_>) -> String {
        self.head(head);
        let end_of_head = self.lines.len();
        self.constants();
        self.values();
        for number in 0..self.classes.len() {
            self.class(number);
        }
        self.functions();
        self.claims();
        self.files(end_of_head);
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    fn say(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    fn title(&mut self, words: &str) {
        let dashes = "-".repeat(WIDTH.saturating_sub(words.chars().count() + 8));
        self.say("");
        self.say(format!("# ---- {words} {dashes}"));
        self.say("");
    }

    fn head(&mut self, head: &Head<'_>) {
        let modules = head.modules.join(", ");
        let origin = match head.calls {
            0 => "drafted from its signatures alone".to_owned(),
            1 => "drafted from a recorded call and from its signatures".to_owned(),
            calls => format!("drafted from {calls} recorded calls and from its signatures"),
        };
        self.say(format!("# A first harness for {modules}, {origin}."));
        self.say("#");
        self.say(format!(
            "# It runs as it is:    testwright run {}",
            head.file
        ));
        if head.tests > 0 {
            let stem = head.file.strip_suffix(".tstl").unwrap_or(head.file);
            let what = "# What was recorded:   ";
            self.say(format!("{what}testwright regress {stem}-recorded-*.test"));
        }
        self.say("#");
        if head.calls == 0 {
            self.say("# A recording would make it better, since it tells real values, the order of calls and what is raised:");
            self.say("# `testwright capture -- python PROGRAM`, then draft again.");
            self.say("#");
        }
        self.say("# Make it yours: say what must be true, take away what must not be raised, delete what does not");
        self.say("# matter. What is commented out is so for the reason above it.");
        self.say("");
        if head.is_in_source_folder {
            self.say("# Seen from the folder in which the command is given.");
            self.say("@sys.path.insert(0, \"src\")");
            self.say("");
        }
        for import in &head.imports {
            self.say(format!("@{import}"));
        }
        self.say("");
        for source in &head.sources {
            self.say(format!("source: {source}"));
        }
        self.say("");
        self.say("# Values are combined without knowing what fits together, so any call may raise these. Remove what");
        self.say("# should never happen: from then on it is reported as a failure.");
        self.say(format!("exception: {}", head.exceptions.join(", ")));
    }

    /// Files that what is below speaks of.
    fn files(&mut self, place: usize) {
        let rest = self.lines.split_off(place);
        let code = self.files.code(&rest);
        if !code.is_empty() {
            self.title("Files that were read");
            self.say("<@");
            self.lines.extend(code);
            self.say("@>");
        }
        self.lines.extend(rest);
    }

    /// Values that cannot be said in a line, as Python code.
    fn constants(&mut self) {
        let pools = self.settled.pools.iter().filter(|pool| pool.is_active);
        let entries = pools.flat_map(|pool| &pool.entries);
        let definitions: Vec<&Vec<String>> = entries
            .map(|entry| &entry.definition)
            .filter(|lines| !lines.is_empty())
            .collect();
        if definitions.is_empty() {
            return;
        }
        self.title("Values that were seen and need more than a line");
        self.say("<@");
        let mut is_function = false;
        for (number, lines) in definitions.into_iter().enumerate() {
            let was_function = is_function;
            is_function = lines.first().is_some_and(|line| line.starts_with("def "));
            if number > 0 && (is_function || was_function) {
                self.say("");
            }
            self.lines.extend(lines.iter().cloned());
        }
        self.say("@>");
    }

    fn values(&mut self) {
        if self.settled.pools.is_empty() {
            return;
        }
        self.title("Values");
        let settled = self.settled;
        for (number, pool) in settled.pools.iter().enumerate() {
            if number > 0 {
                self.say("");
            }
            let mark = if pool.is_active { "" } else { "# " };
            if !pool.is_active {
                self.say("# Only what is commented out needs these.");
            }
            let said = format!("{mark}pool: <{}> {}", pool.name, pool.size);
            self.say(format!("{said}  # {}", origin(pool)));
            for line in choices(pool) {
                self.say(format!("{mark}{line}"));
            }
        }
    }

    fn class(&mut self, number: usize) {
        let Some(class) = self.classes.get(number) else {
            return;
        };
        let actions: Vec<&Action<'_>> = self
            .actions
            .iter()
            .filter(|action| action.section == Some(number))
            .collect();
        let is_needed = self
            .actions
            .iter()
            .any(|action| action.needs().contains(&number) || action.result == Some(number));
        if actions.is_empty() && !is_needed {
            return;
        }
        self.title(class.reference.name());
        let is_active = self.actions.iter().any(|action| {
            action.left_out.is_none()
                && (action.needs().contains(&number) || action.result == Some(number))
        });
        let mark = if is_active { "" } else { "# " };
        let size = self.sizes.get(&number).copied().unwrap_or(0).clamp(2, 4);
        self.say(format!("{mark}pool: <{}> {size}", class.pool));
        self.say("");
        self.block(&actions);
    }

    fn functions(&mut self) {
        let actions: Vec<&Action<'_>> = self
            .actions
            .iter()
            .filter(|action| action.section.is_none())
            .collect();
        if actions.is_empty() {
            return;
        }
        self.title("Functions");
        self.block(&actions);
    }

    /// Actions, with what is said about them aligned behind; then what is left out, by reason.
    fn block(&mut self, actions: &[&Action<'_>]) {
        let active = actions.iter().filter(|action| action.left_out.is_none());
        let mut remarked: Vec<Remarked> = Vec::new();
        for action in active {
            let line = self.line(action);
            // `__or__` and `__ror__` are one operator.
            if !remarked.iter().any(|known| known.line == line) {
                let remark = action.note.clone();
                remarked.push(Remarked { line, remark });
            }
        }
        let widths = remarked.iter().map(|one| one.line.chars().count());
        let margin = widths.filter(|width| *width <= MARGIN).max().unwrap_or(0);
        for Remarked { line, remark } in remarked {
            let blanks = " ".repeat(margin.saturating_sub(line.chars().count()));
            self.say(format!("{line}{blanks}  # {remark}"));
        }
        let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
        for action in actions {
            let Some(reason) = &action.left_out else {
                continue;
            };
            let line = self.line(action);
            match by_reason.iter_mut().find(|(known, _)| known == reason) {
                Some((_, lines)) if lines.contains(&line) => {}
                Some((_, lines)) => lines.push(line),
                None => by_reason.push((reason, vec![line])),
            }
        }
        for (reason, lines) in by_reason {
            self.say("");
            self.say(format!("# Left out: {reason}."));
            for line in lines {
                self.say(format!("# {line}"));
            }
        }
    }

    fn line(&self, action: &Action<'_>) -> String {
        let class_pool = |class: usize| {
            let class = self.classes.get(class);
            class.map_or_else(String::new, |class| format!("<{}>", class.pool))
        };
        let arguments: Vec<String> = action
            .arguments
            .iter()
            .map(|argument| match &argument.what {
                What::Text(text) => text.clone(),
                What::Object(class) => class_pool(*class),
                What::Wish(wish) => match self.settled.source(*wish) {
                    Some(Source::Pool(number)) => {
                        let pool = self.settled.pools.get(*number);
                        pool.map_or_else(String::new, |pool| format!("<{}>", pool.name))
                    }
                    Some(Source::Choice(choices)) => match choices.as_slice() {
                        [only] => only.clone(),
                        _ => format!("<[{}]>", choices.join(",")),
                    },
                    None => String::new(),
                },
            })
            .collect();
        let receiver = match &action.callee {
            Callee::Of { class, .. } => class_pool(*class),
            Callee::Named(_) => String::new(),
        };
        let mut line = String::new();
        if !action.exceptions.is_empty() {
            line.push_str(&format!("{{{}}} ", action.exceptions.join(", ")));
        }
        if let (Some(guard), Callee::Of { class, .. }) = (&action.guard, &action.callee) {
            // Left of `:=` stands a slot of the same pool, which is counted first.
            let place = if action.result == Some(*class) { 2 } else { 1 };
            let pool = self
                .classes
                .get(*class)
                .map_or("", |class| class.pool.as_str());
            line.push_str(&format!(
                "{}<{pool},{place}>{} -> ",
                guard.before, guard.behind
            ));
        }
        if let Some(class) = action.result {
            line.push_str(&format!("{} := ", class_pool(class)));
        }
        line.push_str(&action.said(&receiver, &arguments));
        line
    }

    fn claims(&mut self) {
        self.title("What must be true");
        self.say("# Nothing is claimed yet, so only exceptions, crashes and hangs are found. For example:");
        self.say("#");
        let sized = self.actions.iter().find_map(|action| match &action.callee {
            Callee::Of { class, name, .. } if name == "__len__" => self.classes.get(*class),
            _ => None,
        });
        match sized.or(self.classes.first()) {
            Some(class) if sized.is_some() => {
                self.say(format!("# property: len(<{}>) <= 100", class.pool));
            }
            Some(class) => self.say(format!(
                "# property: <{}> == <{},1>",
                class.pool, class.pool
            )),
            None => self.say("# statement => what must be true after it"),
        }
    }
}

/// Where the values of a pool come from.
fn origin(pool: &Pool) -> String {
    let kinds: Vec<&str> = pool.kinds.iter().filter_map(|kind| kind.word()).collect();
    let mut parts = vec![kinds.join(" or ")];
    parts.extend((pool.seen > 0).then(|| format!("{} seen", pool.seen)));
    parts.extend(match (pool.seen, pool.hinted) {
        (_, 0) => None,
        (0, _) => Some("from type hints".to_owned()),
        (_, hinted) => Some(format!("{hinted} from hints and defaults")),
    });
    parts.extend((pool.more > 0).then(|| format!("{} more not written", pool.more)));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// The lines that fill a pool.
fn choices(pool: &Pool) -> Vec<String> {
    let said: Vec<&str> = pool
        .entries
        .iter()
        .map(|entry| entry.said.as_str())
        .collect();
    if pool.kinds == [Kind::Integer]
        && let Some(range) = range(&said)
    {
        return vec![format!("<{}> := <[{range}]>", pool.name)];
    }
    let mut lines = Vec::new();
    let mut current: Vec<&str> = Vec::new();
    let length = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| text.chars().count() + 1)
            .sum::<usize>()
    };
    for text in said {
        if !current.is_empty()
            && length(&current) + text.chars().count() + pool.name.len() + 10 > WIDTH
        {
            lines.push(std::mem::take(&mut current));
        }
        current.push(text);
    }
    lines.push(current);
    let line = |texts: Vec<&str>| match texts.as_slice() {
        [only] => format!("<{}> := {only}", pool.name),
        _ => format!("<{}> := <[{}]>", pool.name, texts.join(",")),
    };
    lines
        .into_iter()
        .filter(|texts| !texts.is_empty())
        .map(line)
        .collect()
}

/// Integers without a gap, as a range.
fn range(texts: &[&str]) -> Option<String> {
    let mut numbers = texts
        .iter()
        .map(|text| text.parse::<i64>().ok())
        .collect::<Option<Vec<i64>>>()?;
    numbers.sort_unstable();
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    let length = last.checked_sub(first)?.checked_add(1)?;
    let is_whole = usize::try_from(length).ok()? == numbers.len() && numbers.len() > 3;
    is_whole.then(|| format!("{first}..{last}"))
}
