//! Writes the document of a model program or a machine: what is remembered, what can happen, what
//! must always be true.

use testwright_source::tree::first_paragraph;

use super::Options;
use super::inputs;
use super::locate::{Action, Callable, Input, Origin, Parts, Start, Variable};
use super::run::{Execution, Frame, Path, World, conjuncts};
use super::tell::{LineIndex, Teller};
use crate::block::{
    Document, DocumentItem, DocumentSection, DocumentSource, Heading, ItemKind, LineRange, NORMAL,
};
use crate::phrase::{PhraseRecorder, Phraser, join};
use crate::render::source_location;
use crate::term::{NameReference, NameRole, Term, Type};
use crate::value::PythonValue;
use crate::words::{Polarity, Tense, Verb, is_plural, to_sentence};

/// Text behind the name of an action that is not an input of the system.
pub(super) const OBSERVED: &str = " (observed, not chosen by the tester)";

/// Writes the document of a model.
pub(super) fn document(
    name: &str,
    parts: &Parts,
    source: &DocumentSource,
    options: &Options,
    recorder: &PhraseRecorder,
) -> Document {
    let vocabulary = World::vocabulary_of(parts, &source.text, &options.vocabulary, options.limits);
    let world = World::new(parts, &source.text, &vocabulary, options.limits);
    let phraser = Phraser::new(&vocabulary).with_shortening();
    let author = DocumentWriter {
        world: &world,
        phraser,
        recorder,
        source,
        index: LineIndex::new(source),
        variables: variables(&world, phraser),
    };
    let mut sections = vec![author.remembered()];
    let mut incomplete = 0;
    for action in &parts.actions {
        let (section, is_complete) = author.action(action);
        sections.push(section);
        incomplete += usize::from(!is_complete);
    }
    sections.extend(author.always());
    sections.extend(author.end());
    sections.extend(author.limits());
    sections.extend(incomplete_note(incomplete, options.limits.outcomes));
    sections.retain(|section| !section.items.is_empty());
    Document {
        title: format!("Model: {}", vocabulary.words(name)),
        intro: parts.intro.clone().filter(|intro| !intro.is_empty()),
        sections,
        source: source.clone(),
    }
}

/// Returns the note at the end of an explanation that leaves something out, if a limit was reached.
pub(super) fn incomplete_note(actions: usize, limit: usize) -> Option<DocumentSection> {
    let who = match actions {
        0 => return None,
        1 => "1 action has".to_owned(),
        several => format!("{several} actions have"),
    };
    let note =
        format!("Note: this explanation is incomplete. {who} more than {limit} possible outcomes.");
    Some(DocumentSection {
        heading: Heading::None,
        items: vec![DocumentItem::new(ItemKind::Paragraph(note), 1..=1).with_level(0)],
        lines: 1..=1,
        level: 0,
    })
}

/// Returns the variables of a model with their phrases. Bundles are left out, since they only grow.
fn variables(world: &World<'_>, phraser: Phraser<'_>) -> Vec<(String, String)> {
    let plain = world
        .parts
        .state
        .iter()
        .filter(|one| !matches!(one.start, Start::Bundle));
    let phrase = |variable: &Variable| {
        let type_ = world.types.get(&variable.name).cloned().unwrap_or_default();
        format!("the {}", phraser.state_noun(&variable.name, &type_))
    };
    plain
        .map(|variable| (variable.name.clone(), phrase(variable)))
        .collect()
}

const WHEN: &str = "When it can happen";

/// Remark for negated comparisons, which assume that numbers are in order.
const NOT_A_NUMBER: &str =
    "remark: not-a-number is neither less than, nor equal to, nor greater than any number";

struct DocumentWriter<'a, 'w> {
    world: &'w World<'w>,
    phraser: Phraser<'a>,
    recorder: &'a PhraseRecorder,
    source: &'a DocumentSource,
    index: LineIndex,
    variables: Vec<(String, String)>,
}

impl<'a, 'w> DocumentWriter<'a, 'w> {
    fn teller<'t>(&'t self, execution: &'t Execution<'w>) -> Teller<'t, 'w> {
        let place = (&self.index, self.source.text.as_str());
        Teller::new(
            execution,
            self.phraser,
            self.recorder,
            place,
            &self.variables,
        )
    }

    fn remembered(&self) -> DocumentSection {
        let state = &self.world.parts.state;
        let items: Vec<DocumentItem> = state.iter().map(|one| self.variable(one)).collect();
        section("What is remembered", items)
    }

    fn variable(&self, variable: &Variable) -> DocumentItem {
        let lines = self.index.lines(&variable.range);
        let words = match &variable.start {
            Start::Bundle => {
                let name = self.phraser.words(&variable.name);
                format!("the {name}: values kept for later steps")
            }
            Start::Nothing => format!("{}: has no value at the start", self.noun(&variable.name)),
            Start::Drawn(strategy) => {
                let drawn = super::inputs::drawn(strategy, self.world, self.phraser);
                format!("{}: starts as {drawn}", self.noun(&variable.name))
            }
            Start::Made(value, inputs) => {
                let value = self.world.start(value).map_parts(&mut |part| match part {
                    Term::Reference(name) if inputs.contains(&name.name) => {
                        Some(NameReference::new(name.name.clone(), NameRole::Input).into())
                    }
                    _ => None,
                });
                format!("{}: {}", self.noun(&variable.name), self.start(&value))
            }
            Start::Value(value) => {
                let value = self.world.start(value);
                format!("{}: {}", self.noun(&variable.name), self.start(&value))
            }
        };
        DocumentItem::sentence(words, lines)
    }

    fn noun(&self, name: &str) -> String {
        let known = self.variables.iter().find(|(known, _)| known == name);
        known.map_or_else(
            || format!("the {}", self.phraser.words(name)),
            |(_, noun)| noun.clone(),
        )
    }

    fn start(&self, value: &Term) -> String {
        let kind = match value {
            Term::Value(PythonValue::Nothing) => return "has no value at the start".to_owned(),
            Term::Value(value) if value.length() == Some(0) => match value {
                PythonValue::List(_) => Some("a list"),
                PythonValue::Dictionary(_) => Some("a dictionary"),
                PythonValue::Set(_) => Some("a set"),
                PythonValue::Text(_) => Some("a text"),
                _ => None,
            },
            Term::Call(call) if call.arguments.is_empty() && call.keywords.is_empty() => {
                match (value.is_unknown_call(), value.type_of()) {
                    (false, Type::List(_)) => Some("a list"),
                    (false, Type::Dictionary(..)) => Some("a dictionary"),
                    (false, Type::Set(_)) => Some("a set"),
                    (false, Type::Text) => Some("a text"),
                    _ => None,
                }
            }
            _ => None,
        };
        match kind {
            Some(kind) => format!("{kind}, empty at the start"),
            None => format!("starts as {}", self.phraser.noun(value).text),
        }
    }

    fn action(&self, action: &'w Action) -> (DocumentSection, bool) {
        let execution = Execution::new(self.world);
        let mut teller = self.teller(&execution);
        let lines = self.index.lines(&action.does.range);
        let mut items = Vec::new();
        let doc = action.does.docstring.as_deref().map(first_paragraph);
        if let Some(doc) = doc.filter(|doc| !doc.is_empty()) {
            items.push(DocumentItem::new(ItemKind::Paragraph(doc), lines.clone()).with_level(0));
        }
        let place = source_location(self.source, &lines);
        items.push(
            DocumentItem::labelled("Source", format!("{place}."), lines.clone()).with_level(2),
        );
        let mut path = Path::default();
        items.push(self.inputs(action, &execution, &mut path, &lines));
        let guards: Vec<Term> = action
            .guards
            .iter()
            .flat_map(|guard| self.guard(guard, action, &execution, &path))
            .collect();
        for guard in &guards {
            path.facts.add(&execution.expanded(guard), true);
        }
        let frame = Frame::new(&self.source.text, &action.does, self.world.parts.is_machine);
        let ended = execution.body(&action.does.body, path, &frame);
        teller.decide(&guards, &ended.flow);
        items.push(self.when(action, &guards, &teller, &lines));
        let here = teller.here(&ended.flow);
        if !here.is_empty() {
            let level = here.iter().map(|item| item.level).min().unwrap_or(NORMAL);
            items.push(DocumentItem::group("Here", here, lines.clone()).with_level(level));
        }
        let mut happens = teller.outcomes(&ended.flow, &action.does.range);
        for target in &action.targets {
            let kept = format!(
                "What it returns is kept among the {}.",
                self.phraser.words(target)
            );
            happens.push(DocumentItem::sentence(kept, lines.clone()));
        }
        items.push(DocumentItem::group("What happens", happens, lines.clone()).with_level(0));
        let mut title = format!("Action: {}", self.phraser.words(&action.does.name));
        if action.is_observed {
            title.push_str(OBSERVED);
        }
        let section = DocumentSection {
            heading: Heading::Action(title),
            items,
            lines,
            level: 0,
        };
        (section, !execution.limit_reached())
    }

    /// Writes "Inputs:", and binds the inputs in the path.
    fn inputs(
        &self,
        action: &'w Action,
        execution: &Execution<'w>,
        path: &mut Path,
        lines: &LineRange,
    ) -> DocumentItem {
        let mut items = Vec::new();
        for input in &action.inputs {
            let known = inputs::known(input, execution, self.phraser);
            let name = self.phraser.words(&input.name);
            items.push(DocumentItem::sentence(
                format!("{name}: {}", known.phrase),
                lines.clone(),
            ));
            if let Some(kind) = kind_of(&known.type_) {
                let told = format!("kind of {name}: {kind}");
                items.push(DocumentItem::sentence(told, lines.clone()).with_level(2));
            }
            if self.may_be_no_number(input) {
                items.push(DocumentItem::sentence(NOT_A_NUMBER, lines.clone()).with_level(2));
            }
            let reference = NameReference::new(input.name.clone(), NameRole::Input);
            let term = reference.with_type(known.type_).into();
            path.locals.insert(input.name.clone(), term);
        }
        if items.is_empty() {
            return DocumentItem::labelled("Inputs", "none.", lines.clone());
        }
        if action.in_cases {
            let told = "The inputs are combined one by one, in order.";
            items.push(DocumentItem::new(
                ItemKind::Paragraph(told.to_owned()),
                lines.clone(),
            ));
        }
        DocumentItem::group("Inputs", items, lines.clone())
    }

    /// Returns true if a strategy may give not-a-number, which is neither less nor greater than any
    /// number.
    fn may_be_no_number(&self, input: &Input) -> bool {
        let Origin::Strategy(strategy) = &input.from else {
            return false;
        };
        let code = self.source.text.get(strategy.range.clone());
        code.is_some_and(|code| code.contains("floats(") && !code.contains("allow_nan=False"))
    }

    /// Returns the conjuncts of a guard, with its parameters matched by position.
    fn guard(
        &self,
        guard: &'w Callable,
        action: &Action,
        execution: &Execution<'w>,
        path: &Path,
    ) -> Vec<Term> {
        let is_machine = self.world.parts.is_machine;
        let mut inside = Path::default();
        let parameters = guard.parameters.iter().skip(usize::from(is_machine));
        for (parameter, input) in parameters.zip(&action.inputs) {
            if let Some(term) = path.locals.get(&input.name) {
                inside.locals.insert(parameter.name.clone(), term.clone());
            }
        }
        let frame = Frame::new(&self.source.text, guard, is_machine);
        match execution.condition(guard, inside, &frame) {
            Some(condition) => conjuncts(condition.fold_constants()),
            // The guard does more than compute a condition, so only its call can be shown.
            None => vec![Term::call(
                guard.name.clone(),
                path.locals.values().cloned().collect(),
            )],
        }
    }

    /// Writes "When it can happen:": at any time, never, or only if conditions hold (L1).
    fn when(
        &self,
        action: &Action,
        guards: &[Term],
        teller: &Teller<'_, 'w>,
        lines: &LineRange,
    ) -> DocumentItem {
        let kept = inputs::bundles(action).into_iter().map(|bundle| {
            let words = self.phraser.words(bundle);
            let are = Verb::Be.conjugate(is_plural(&words), Polarity::Negative, Tense::Present);
            format!("the {words} {are} empty")
        });
        let mut item = when(kept.collect(), guards, teller, lines);
        if action.is_first && guards.is_empty() {
            let once = "once, before anything else.";
            item = DocumentItem::labelled(WHEN, once, lines.clone()).with_level(0);
        }
        let code: Vec<&str> = action.guards.iter().map(|one| self.code(one)).collect();
        if code.is_empty() {
            item
        } else {
            item.with_code(code.join("\n"))
        }
    }

    /// Returns the code of a condition, without its `def` line and docstring.
    fn code(&self, callable: &Callable) -> &str {
        let asked = usize::from(callable.docstring.is_some());
        let range = match (callable.body.get(asked), callable.body.last()) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => 0..0,
        };
        self.source.text.get(range).unwrap_or_default()
    }

    /// Writes "What must always be true:", which follows the actions (L8).
    fn always(&self) -> Option<DocumentSection> {
        let mut items = Vec::new();
        for callable in &self.world.parts.always {
            items.extend(self.invariant(callable));
        }
        (!items.is_empty()).then(|| section("What must always be true", items))
    }

    fn invariant(&self, callable: &'w Callable) -> Vec<DocumentItem> {
        let execution = Execution::new(self.world);
        let teller = self.teller(&execution);
        let lines = self.index.lines(&callable.range);
        let conditions = self.conditions(callable, &execution);
        let doc = callable.docstring.as_deref().map(first_paragraph);
        let clauses: Vec<String> = conditions.iter().map(|one| teller.condition(one)).collect();
        match doc.filter(|doc| !doc.is_empty()) {
            Some(doc) => {
                let stop = if doc.ends_with(['.', '!', '?']) {
                    ""
                } else {
                    "."
                };
                let told = if clauses.is_empty() {
                    format!("{doc}{stop}")
                } else {
                    let all = join::clauses(&clauses, "and");
                    format!("{doc}{stop} In other words: {all}.")
                };
                vec![DocumentItem::sentence(told, lines).with_code(self.code(callable))]
            }
            // The condition is only known to a function that it calls.
            None if clauses.is_empty() && self.does_something(callable, &execution) => {
                let told = format!("\"{}\" does not fail.", self.phraser.words(&callable.name));
                vec![DocumentItem::sentence(told, lines).with_code(self.code(callable))]
            }
            None => {
                let told = clauses.iter().map(|clause| {
                    let item = DocumentItem::sentence(to_sentence(clause), lines.clone());
                    item.with_code(self.code(callable))
                });
                told.collect()
            }
        }
    }

    fn does_something(&self, callable: &'w Callable, execution: &Execution<'w>) -> bool {
        let frame = Frame::new(&self.source.text, callable, self.world.parts.is_machine);
        let flow = execution.body(&callable.body, Path::default(), &frame).flow;
        flow.is_split() || !flow.events.is_empty()
    }

    /// Returns the condition of a function without parameters: its result, or its assertions.
    fn conditions(&self, callable: &'w Callable, execution: &Execution<'w>) -> Vec<Term> {
        let frame = Frame::new(&self.source.text, callable, self.world.parts.is_machine);
        if let Some(condition) = execution.condition(callable, Path::default(), &frame)
            && condition.as_value() != Some(&PythonValue::Nothing)
        {
            return conjuncts(condition.fold_constants());
        }
        let flow = execution.body(&callable.body, Path::default(), &frame).flow;
        super::tell::checks(&flow)
    }

    fn end(&self) -> Option<DocumentSection> {
        let callable = self.world.parts.end.as_ref()?;
        let (clause, lines) = self.one_condition(callable);
        let told = match clause {
            Asked::Always => "at any time.".to_owned(),
            Asked::Never => "never.".to_owned(),
            Asked::If(clause) => format!("only if {clause}."),
        };
        let item = DocumentItem::labelled("A run may end", told, lines);
        Some(alone(item.with_code(self.code(callable))))
    }

    fn limits(&self) -> Option<DocumentSection> {
        let callable = self.world.parts.limits.as_ref()?;
        let (clause, lines) = self.one_condition(callable);
        let clause = match clause {
            Asked::Always => return None,
            Asked::Never => "this is never so".to_owned(),
            Asked::If(clause) => clause,
        };
        let told = format!("Exploration is limited to situations in which {clause}.");
        let item = DocumentItem::new(ItemKind::Paragraph(told), lines);
        Some(alone(item.with_code(self.code(callable))))
    }

    fn one_condition(&self, callable: &'w Callable) -> (Asked, LineRange) {
        let execution = Execution::new(self.world);
        let teller = self.teller(&execution);
        let conditions = self.conditions(callable, &execution);
        let asked = match truth(&conditions) {
            Some(true) => Asked::Always,
            Some(false) => Asked::Never,
            None => {
                let clauses: Vec<String> =
                    conditions.iter().map(|one| teller.behind_if(one)).collect();
                Asked::If(join::clauses(&clauses, "and"))
            }
        };
        (asked, self.index.lines(&callable.range))
    }
}

/// A condition as it is shown: always, never, or a phrase.
enum Asked {
    Always,
    Never,
    If(String),
}

/// Returns the truth value of conditions that always or never hold.
fn truth(conditions: &[Term]) -> Option<bool> {
    let known: Vec<Option<bool>> = conditions
        .iter()
        .map(|one| one.as_value().and_then(PythonValue::truth))
        .collect();
    if known.contains(&Some(false)) {
        return Some(false);
    }
    known.iter().all(|one| *one == Some(true)).then_some(true)
}

/// Writes "When it can happen:" from the values that must exist and the conditions that must hold
/// (L1).
pub(super) fn when(
    kept: Vec<String>,
    guards: &[Term],
    teller: &Teller<'_, '_>,
    lines: &LineRange,
) -> DocumentItem {
    if truth(guards) == Some(false) {
        return DocumentItem::labelled(WHEN, "never.", lines.clone()).with_level(0);
    }
    let open: Vec<&Term> = guards
        .iter()
        .filter(|one| one.as_value().is_none())
        .collect();
    let mut all = kept;
    match open.as_slice() {
        [only] if all.is_empty() => all.push(teller.behind_if(only)),
        _ => all.extend(open.iter().map(|one| teller.condition(one))),
    }
    let item = match all.as_slice() {
        [] => DocumentItem::labelled(WHEN, "at any time.", lines.clone()),
        [only] => DocumentItem::labelled(WHEN, format!("only if {only}."), lines.clone()),
        _ => {
            let items = all
                .into_iter()
                .map(|one| DocumentItem::sentence(one, lines.clone()).with_level(0));
            let label = format!("{WHEN}: only if all of the following hold");
            DocumentItem::group(&label, items.collect(), lines.clone())
        }
    };
    item.with_level(0)
}

/// Creates a section with a heading, located at the lines of its items.
pub(super) fn section(heading: &str, items: Vec<DocumentItem>) -> DocumentSection {
    let first = items.iter().map(|item| *item.lines.start()).min();
    let last = items.iter().map(|item| *item.lines.end()).max();
    DocumentSection {
        heading: Heading::Plain(heading.to_owned()),
        lines: first.unwrap_or(1)..=last.unwrap_or(1),
        items,
        level: NORMAL,
    }
}

/// Creates a section of one line.
pub(super) fn alone(item: DocumentItem) -> DocumentSection {
    DocumentSection {
        heading: Heading::None,
        lines: item.lines.clone(),
        level: item.level,
        items: vec![item],
    }
}

fn kind_of(type_: &Type) -> Option<&'static str> {
    Some(match type_ {
        Type::Boolean => "true-or-false value",
        Type::Number => "number",
        Type::Text => "text",
        Type::Bytes => "bytes",
        Type::List(_) => "list",
        Type::Tuple(_) => "group",
        Type::Set(_) => "set",
        Type::Dictionary(..) => "dictionary",
        _ => return None,
    })
}
