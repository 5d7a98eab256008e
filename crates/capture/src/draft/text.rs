//! The layout of a draft.

use std::collections::BTreeMap;

use super::action::{ActionCallee, ArgumentSource, DraftAction};
use super::drafter::PooledClass;
use super::files::RecordedFiles;
use super::pools::{ArgumentValues, DraftPool, DraftPools};
use super::sample::SampleKind;

/// The maximum length of lines with several values.
const WIDTH: usize = 92;

/// The maximum width of actions up to which comments after them are aligned.
const MARGIN: usize = 64;

/// The content of a draft's head.
pub(super) struct DraftHeader<'a> {
    /// The modules.
    pub(super) modules: &'a [String],
    /// The name of the harness file.
    pub(super) file: &'a str,
    /// The import statements.
    pub(super) imports: Vec<String>,
    /// The names of the modules in `source:` lines.
    pub(super) sources: Vec<String>,
    /// True if the modules are in the folder `src`.
    pub(super) is_in_source_folder: bool,
    /// The number of recorded calls that the draft comes from.
    pub(super) calls: usize,
    /// The number of saved tests.
    pub(super) tests: usize,
    /// Exceptions that any call may raise.
    pub(super) exceptions: Vec<String>,
}

/// A writer of a draft.
pub(super) struct DraftText<'a, 'p> {
    /// The files that calls read.
    pub(super) files: &'p RecordedFiles,
    /// The classes with pools.
    pub(super) classes: &'p [PooledClass<'a>],
    /// The numbers of objects in use at once, by class.
    pub(super) sizes: &'p BTreeMap<usize, usize>,
    /// The actions.
    pub(super) actions: &'p [DraftAction<'a>],
    /// The pools of values.
    pub(super) pools: &'p DraftPools,
    /// The lines so far.
    pub(super) lines: Vec<String>,
}

/// A line with a comment.
struct AnnotatedLine {
    line: String,
    remark: String,
}

impl DraftText<'_, '_> {
    /// Renders the whole draft.
    pub(super) fn render(mut self, head: &DraftHeader<'_>) -> String {
        self.add_header(head);
        let end_of_head = self.lines.len();
        self.add_constants();
        self.add_value_pools();
        for number in 0..self.classes.len() {
            self.add_class(number);
        }
        self.add_functions();
        self.add_property_section();
        self.add_files(end_of_head);
        let mut text = self.lines.join("\n");
        text.push('\n');
        text
    }

    /// Adds a line.
    fn push(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds the title of a section.
    fn add_section_title(&mut self, section_title: &str) {
        let dashes = "-".repeat(WIDTH.saturating_sub(section_title.chars().count() + 8));
        self.push("");
        self.push(format!("# ---- {section_title} {dashes}"));
        self.push("");
    }

    /// Adds the head.
    fn add_header(&mut self, head: &DraftHeader<'_>) {
        let modules = head.modules.join(", ");
        let origin = match head.calls {
            0 => "drafted from its signatures alone".to_owned(),
            1 => "drafted from a recorded call and from its signatures".to_owned(),
            calls => format!("drafted from {calls} recorded calls and from its signatures"),
        };
        self.push(format!("# A first harness for {modules}, {origin}."));
        self.push("#");
        self.push(format!(
            "# It runs as it is:    testwright run {}",
            head.file
        ));
        if head.tests > 0 {
            let stem = head.file.strip_suffix(".tstl").unwrap_or(head.file);
            let source = "# What was recorded:   ";
            self.push(format!("{source}testwright regress {stem}-recorded-*.test"));
        }
        self.push("#");
        if head.calls == 0 {
            self.push("# A recording would make it better, since it has real values, the order of calls and what is raised:");
            self.push("# `testwright capture -- python PROGRAM`, then draft again.");
            self.push("#");
        }
        self.push("# Make it yours: say what must be true, take away what must not be raised, delete what does not");
        self.push("# matter. A line that is commented out has its reason above it.");
        self.push("");
        if head.is_in_source_folder {
            self.push("# Seen from the folder in which the command is given.");
            self.push("@sys.path.insert(0, \"src\")");
            self.push("");
        }
        for import in &head.imports {
            self.push(format!("@{import}"));
        }
        self.push("");
        for source in &head.sources {
            self.push(format!("source: {source}"));
        }
        self.push("");
        self.push("# Values are combined without knowing what fits together, so any call may raise these. Remove what");
        self.push("# should never happen: from then on it is reported as a failure.");
        self.push(format!("exception: {}", head.exceptions.join(", ")));
    }

    /// Adds code that creates the files mentioned below an index.
    fn add_files(&mut self, index: usize) {
        let rest = self.lines.split_off(index);
        let code = self.files.setup_code(&rest);
        if !code.is_empty() {
            self.add_section_title("Files that were read");
            self.push("<@");
            self.lines.extend(code);
            self.push("@>");
        }
        self.lines.extend(rest);
    }

    /// Adds values that do not fit on a line, as Python code.
    fn add_constants(&mut self) {
        let pools = self.pools.pools.iter().filter(|pool| pool.is_active);
        let entries = pools.flat_map(|pool| &pool.entries);
        let definitions: Vec<&Vec<String>> = entries
            .map(|entry| &entry.definition)
            .filter(|lines| !lines.is_empty())
            .collect();
        if definitions.is_empty() {
            return;
        }
        self.add_section_title("Values that were seen and need more than a line");
        self.push("<@");
        let mut is_function = false;
        for (number, lines) in definitions.into_iter().enumerate() {
            let was_function = is_function;
            is_function = lines.first().is_some_and(|line| line.starts_with("def "));
            if number > 0 && (is_function || was_function) {
                self.push("");
            }
            self.lines.extend(lines.iter().cloned());
        }
        self.push("@>");
    }

    /// Adds the pools of values.
    fn add_value_pools(&mut self) {
        if self.pools.pools.is_empty() {
            return;
        }
        self.add_section_title("Values");
        let pools = self.pools;
        for (number, pool) in pools.pools.iter().enumerate() {
            if number > 0 {
                self.push("");
            }
            let mark = if pool.is_active { "" } else { "# " };
            if !pool.is_active {
                self.push("# Only what is commented out needs these.");
            }
            let texts = format!("{mark}pool: <{}> {}", pool.name, pool.size);
            self.push(format!("{texts}  # {}", describe_origin(pool)));
            for line in pool_lines(pool) {
                self.push(format!("{mark}{line}"));
            }
        }
    }

    /// Adds the pool and the actions of a class.
    fn add_class(&mut self, number: usize) {
        let Some(class) = self.classes.get(number) else {
            return;
        };
        let actions: Vec<&DraftAction<'_>> = self
            .actions
            .iter()
            .filter(|action| action.section == Some(number))
            .collect();
        let is_needed = self.actions.iter().any(|action| {
            action.needed_classes().contains(&number) || action.result == Some(number)
        });
        if actions.is_empty() && !is_needed {
            return;
        }
        self.add_section_title(class.reference.name());
        let is_active = self.actions.iter().any(|action| {
            action.comment_reason.is_none()
                && (action.needed_classes().contains(&number) || action.result == Some(number))
        });
        let mark = if is_active { "" } else { "# " };
        let size = self.sizes.get(&number).copied().unwrap_or(0).clamp(2, 4);
        self.push(format!("{mark}pool: <{}> {size}", class.pool));
        self.push("");
        self.add_actions(&actions);
    }

    /// Adds the actions of functions.
    fn add_functions(&mut self) {
        let actions: Vec<&DraftAction<'_>> = self
            .actions
            .iter()
            .filter(|action| action.section.is_none())
            .collect();
        if actions.is_empty() {
            return;
        }
        self.add_section_title("Functions");
        self.add_actions(&actions);
    }

    /// Adds actions with aligned comments, then those that are commented out, by reason.
    fn add_actions(&mut self, actions: &[&DraftAction<'_>]) {
        let active = actions
            .iter()
            .filter(|action| action.comment_reason.is_none());
        let mut remarked: Vec<AnnotatedLine> = Vec::new();
        for action in active {
            let line = self.render_action(action);
            // `__or__` and `__ror__` are one operator.
            if !remarked.iter().any(|known| known.line == line) {
                let remark = action.note.clone();
                remarked.push(AnnotatedLine { line, remark });
            }
        }
        let widths = remarked.iter().map(|one| one.line.chars().count());
        let margin = widths.filter(|width| *width <= MARGIN).max().unwrap_or(0);
        for AnnotatedLine { line, remark } in remarked {
            let blanks = " ".repeat(margin.saturating_sub(line.chars().count()));
            self.push(format!("{line}{blanks}  # {remark}"));
        }
        let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
        for action in actions {
            let Some(reason) = &action.comment_reason else {
                continue;
            };
            let line = self.render_action(action);
            match by_reason.iter_mut().find(|(known, _)| known == reason) {
                Some((_, lines)) if lines.contains(&line) => {}
                Some((_, lines)) => lines.push(line),
                None => by_reason.push((reason, vec![line])),
            }
        }
        for (reason, lines) in by_reason {
            self.push("");
            self.push(format!("# Left out: {reason}."));
            for line in lines {
                self.push(format!("# {line}"));
            }
        }
    }

    /// Renders an action.
    fn render_action(&self, action: &DraftAction<'_>) -> String {
        let class_pool = |class: usize| {
            let class = self.classes.get(class);
            class.map_or_else(String::new, |class| format!("<{}>", class.pool))
        };
        let arguments: Vec<String> = action
            .arguments
            .iter()
            .map(|argument| match &argument.source {
                ArgumentSource::Text(text) => text.clone(),
                ArgumentSource::Object(class) => class_pool(*class),
                ArgumentSource::Request(request) => match self.pools.source(*request) {
                    Some(ArgumentValues::Pool(number)) => {
                        let pool = self.pools.pools.get(*number);
                        pool.map_or_else(String::new, |pool| format!("<{}>", pool.name))
                    }
                    Some(ArgumentValues::Choice(choices)) => match choices.as_slice() {
                        [only] => only.clone(),
                        _ => format!("<[{}]>", choices.join(",")),
                    },
                    None => String::new(),
                },
            })
            .collect();
        let receiver = match &action.callee {
            ActionCallee::Member { class, .. } => class_pool(*class),
            ActionCallee::Named(_) => String::new(),
        };
        let mut line = String::new();
        if !action.exceptions.is_empty() {
            line.push_str(&format!("{{{}}} ", action.exceptions.join(", ")));
        }
        if let (Some(guard), ActionCallee::Member { class, .. }) = (&action.guard, &action.callee) {
            // The slot left of `:=` belongs to the same pool and is counted first.
            let slot_number = if action.result == Some(*class) { 2 } else { 1 };
            let pool = self
                .classes
                .get(*class)
                .map_or("", |class| class.pool.as_str());
            line.push_str(&format!(
                "{}<{pool},{slot_number}>{} -> ",
                guard.before_receiver, guard.after_receiver
            ));
        }
        if let Some(class) = action.result {
            line.push_str(&format!("{} := ", class_pool(class)));
        }
        line.push_str(&action.statement(&receiver, &arguments));
        line
    }

    /// Adds the section for properties.
    fn add_property_section(&mut self) {
        self.add_section_title("What must be true");
        self.push("# Nothing is claimed yet, so only exceptions, crashes and hangs are found. For example:");
        self.push("#");
        let sized = self.actions.iter().find_map(|action| match &action.callee {
            ActionCallee::Member { class, name, .. } if name == "__len__" => {
                self.classes.get(*class)
            }
            _ => None,
        });
        match sized.or(self.classes.first()) {
            Some(class) if sized.is_some() => {
                self.push(format!("# property: len(<{}>) <= 100", class.pool));
            }
            Some(class) => self.push(format!(
                "# property: <{}> == <{},1>",
                class.pool, class.pool
            )),
            None => self.push("# statement => what must be true after it"),
        }
    }
}

/// Describes the origin of a pool's values.
fn describe_origin(pool: &DraftPool) -> String {
    let kinds: Vec<&str> = pool
        .kinds
        .iter()
        .filter_map(|kind| kind.type_name())
        .collect();
    let mut parts = vec![kinds.join(" or ")];
    parts.extend((pool.recorded_count > 0).then(|| format!("{} seen", pool.recorded_count)));
    parts.extend(match (pool.recorded_count, pool.hinted) {
        (_, 0) => None,
        (0, _) => Some("from type hints".to_owned()),
        (_, hinted) => Some(format!("{hinted} from hints and defaults")),
    });
    parts.extend(
        (pool.left_out_count > 0).then(|| format!("{} more not written", pool.left_out_count)),
    );
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// Renders the lines that fill a pool.
fn pool_lines(pool: &DraftPool) -> Vec<String> {
    let texts: Vec<&str> = pool
        .entries
        .iter()
        .map(|entry| entry.expression.as_str())
        .collect();
    if pool.kinds == [SampleKind::Integer]
        && let Some(range) = integer_range(&texts)
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
    for text in texts {
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

/// Renders integers without a gap as a range.
fn integer_range(texts: &[&str]) -> Option<String> {
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
