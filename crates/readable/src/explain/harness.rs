//! Writes the document of a TSTL harness: pools, actions, properties, the reference.

mod fragment;
mod heading;
mod reference;
mod step;

use testwright_core::{Axis, SlotRole};
use testwright_lang::harness::Harness;
use testwright_lang::{Severity, parse};
use testwright_source::tree::{self, Expression, Statement};

use super::document::{incomplete_note, section, when};
use super::locate::{Callable, ModuleNames, Parts};
use super::run::{Execution, Frame, Path, World, conjuncts, error_name};
use super::tell::{LineIndex, Teller};
use super::{Options, Unreadable};
use crate::block::{Document, DocumentItem, DocumentSection, DocumentSource, Heading, LineRange};
use crate::phrase::{PhraseRecorder, Phraser, join};
use crate::render::source_location;
use crate::term::{NameReference, NameRole, Term, Type};
use crate::value::PythonValue;
use crate::words::{is_plural, to_sentence, with_article_or_some};
use fragment::{Code, Holes};
use step::{HarnessStep, line, lines, steps};

/// Writes the document of a harness.
pub(super) fn document(
    name: &str,
    source: &DocumentSource,
    options: &Options,
    recorder: &PhraseRecorder,
) -> Result<Document, Unreadable> {
    let (harness, diagnostics) = parse(&source.text);
    if diagnostics
        .iter()
        .any(|one| one.severity == Severity::Error)
    {
        return Err(Unreadable::Harness(diagnostics));
    }
    let parts = parts(&harness).unfolded();
    let raw = &harness.raw.text;
    let vocabulary = World::vocabulary_of(&parts, raw, &options.vocabulary, options.limits);
    let world = World::new(&parts, raw, &vocabulary, options.limits);
    let steps: Vec<HarnessStep> = harness
        .actions
        .iter()
        .flat_map(|action| steps(&harness, action))
        .collect();
    let phraser = Phraser::new(&vocabulary).with_shortening();
    let author = HarnessWriter {
        harness: &harness,
        world: &world,
        phraser,
        recorder,
        source,
        types: pool_types(&harness, &steps, &world),
    };
    let mut sections = vec![section("What is remembered", author.pools())];
    let inits = lines(&harness, &harness.inits);
    sections.extend(author.around("Before each test", &inits));
    let mut incomplete = 0;
    let mut titles: Vec<String> = Vec::new();
    for step in &steps {
        let (section, is_complete) = author.action(step, &mut titles);
        sections.push(section);
        incomplete += usize::from(!is_complete);
    }
    let finallys = lines(&harness, &harness.finallys);
    sections.extend(author.around("After each test", &finallys));
    let properties = harness.properties.iter();
    let properties: Vec<HarnessStep> = properties
        .map(|property| line(&harness, &property.line))
        .collect();
    let always = author.conditions(&properties);
    sections.push(section("What must always be true", always));
    let assumptions = lines(&harness, &harness.assumptions);
    let assumed = author.conditions(&assumptions);
    sections.push(section("A test goes on only as long as", assumed));
    let references = reference::items(&harness, phraser);
    sections.push(section("The reference", references));
    sections.extend(incomplete_note(incomplete, options.limits.outcomes));
    sections.retain(|section| !section.items.is_empty());
    Ok(Document {
        title: format!("Test harness: {}", vocabulary.words(name)),
        intro: leading_comment(&source.text),
        sections,
        source: source.clone(),
    })
}

/// Returns the comment at the top, on one line.
fn leading_comment(text: &str) -> Option<String> {
    let comment = text
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .map_while(|line| line.strip_prefix('#'))
        .map(|line| line.trim_start_matches('#').trim())
        .filter(|line| !line.is_empty());
    let joined = comment.collect::<Vec<_>>().join(" ");
    (!joined.is_empty()).then_some(joined)
}

/// Modules that every harness may use without importing them.
const ALWAYS_IMPORTED: [&str; 11] = [
    "copy",
    "glob",
    "inspect",
    "os",
    "random",
    "re",
    "struct",
    "subprocess",
    "sys",
    "time",
    "traceback",
];

/// Returns the helpers and constants in the raw Python code of a harness, as the parts of a model.
fn parts(harness: &Harness) -> Parts {
    let tree = tree::module(&harness.raw.text).unwrap_or_default();
    let module = ModuleNames::read(&tree.body);
    let always = ALWAYS_IMPORTED.into_iter().map(str::to_owned);
    let imported = module.imported.iter().cloned().chain(always);
    Parts {
        helpers: module.functions.clone(),
        constants: module.constants(&tree.body),
        imported: imported.collect(),
        values: module.all_values(),
        ..Parts::default()
    }
}

/// Returns the type of each pool: the common type of all values that are put into it.
fn pool_types(harness: &Harness, steps: &[HarnessStep<'_>], world: &World<'_>) -> Vec<Type> {
    let mut found: Vec<Vec<Type>> = vec![vec![]; harness.pools.len()];
    for step in steps {
        let Some((axis, value)) = step.defines() else {
            continue;
        };
        if let Some(Axis::Slot { pool, .. }) = step.axes.get(axis)
            && let Some(types) = found.get_mut(pool.0)
        {
            // Later values of a slot are made of earlier ones.
            if step.is_new(axis) {
                let text = &step.body.text;
                types.push(step.holes.type_of_value(value, text, step.axes, world));
            }
        }
    }
    let names = harness.pools.iter().map(|pool| pool.name.clone());
    found
        .into_iter()
        .zip(names)
        .map(|(types, name)| pool_type(types, name))
        .collect()
}

/// Returns the type of a pool from the types of its values. It is not known if `make_queue()` or
/// `<queue>.copy()` gives one of Python's own collections. So their results are objects of the
/// system, whose methods are unknown calls (P38).
fn pool_type(types: Vec<Type>, name: String) -> Type {
    let is_object = !types.iter().any(Type::is_built_in);
    let class = types.iter().find(|one| matches!(one, Type::Object(_)));
    match (is_object && !types.is_empty(), class) {
        (true, Some(class)) => class.clone(),
        (true, None) => Type::Object(name),
        (false, _) => Type::unify_all(types.into_iter()),
    }
}

struct HarnessWriter<'a, 'w> {
    harness: &'a Harness,
    world: &'w World<'w>,
    phraser: Phraser<'a>,
    recorder: &'a PhraseRecorder,
    source: &'a DocumentSource,
    types: Vec<Type>,
}

impl<'w> HarnessWriter<'_, 'w> {
    fn pools(&self) -> Vec<DocumentItem> {
        let pools = self.harness.pools.iter().map(|pool| {
            let mirrored = if pool.reference {
                ", each mirrored by a reference value"
            } else {
                ""
            };
            let name = self.phraser.words(&pool.name);
            let values = if pool.size == 1 { "value" } else { "values" };
            let told = format!("up to {} {values} called {name}{mirrored}", pool.size);
            DocumentItem::sentence(told, pool.line..=pool.line)
        });
        pools.collect()
    }

    /// Returns the path on which the holes of a line have their values.
    fn path(&self, step: &HarnessStep<'_>) -> Path {
        let used = step.used();
        let pool = |axis: usize| match step.axes.get(axis) {
            Some(Axis::Slot { pool, .. }) => {
                self.harness.pools.get(pool.0).map(|one| (pool.0, one))
            }
            _ => None,
        };
        let mut path = Path::default();
        for (axis, kind) in step.axes.iter().enumerate() {
            match kind {
                Axis::Slot { role, .. } => {
                    let Some((at, known)) = pool(axis) else {
                        continue;
                    };
                    let type_ = self.types.get(at).cloned().unwrap_or_default();
                    let before = used.iter().take_while(|one| **one != axis);
                    let same =
                        before.filter(|one| pool(**one).is_some_and(|(other, _)| other == at));
                    // All values of a pool of size one are the same value.
                    let number = match known.size {
                        1 => 1,
                        _ => same.count() as u32 + 1,
                    };
                    let is_new = *role == SlotRole::Definition;
                    let words = self.phraser.words(&known.name);
                    let name = (known.name.as_str(), words.as_str());
                    step.holes
                        .bind_slot(axis, name, number, is_new, &type_, &mut path);
                }
                Axis::Choice(choice) => {
                    step.holes
                        .bind_choice(axis, choice, self.phraser, &mut path);
                }
                Axis::Repeat(_) => {}
            }
        }
        path
    }

    fn teller<'t>(
        &'t self,
        execution: &'t Execution<'w>,
        (index, text): (&'t LineIndex, &'t str),
        shown: &'t dyn Fn(&str) -> String,
    ) -> Teller<'t, 'w> {
        let place = (index, text);
        Teller::new(execution, self.phraser, self.recorder, place, &[]).showing(shown)
    }

    fn action<'s: 'w>(
        &self,
        step: &'s HarnessStep<'_>,
        titles: &mut Vec<String>,
    ) -> (DocumentSection, bool) {
        let lines = step.lines();
        let index = LineIndex::fixed(lines.clone());
        let execution = Execution::new(self.world);
        let path = self.path(step);
        let title = self.title(step, titles);
        let mut items = Vec::new();
        let place = source_location(self.source, &lines);
        items.push(
            DocumentItem::labelled("Source", format!("{place}."), lines.clone()).with_level(2),
        );
        items.push(self.inputs(step, &lines));
        let shown = |code: &str| step.holes.shown(code);
        let mut teller = self.teller(&execution, (&index, &step.body.text), &shown);
        let guards: Vec<Term> = match &step.guard {
            Some(guard) => conjuncts(self.term(guard, &path, &execution).fold_constants()),
            None => vec![],
        };
        let mut inside = path.clone();
        for guard in &guards {
            inside.facts.add(&execution.expanded(guard), true);
        }
        let happens = match step.defines() {
            Some((axis, value)) if step.is_new(axis) => {
                let told = self.new_value(step, axis, value, &path, &execution);
                vec![DocumentItem::sentence(told, lines.clone()).with_level(0)]
            }
            _ => {
                let frame = frame(&step.body.text, step);
                let body: &[Statement] = step.body.code.as_deref().unwrap_or_default();
                let flow = execution.body(body, inside, &frame).flow;
                teller.decide(&guards, &flow);
                let here = teller.here(&flow);
                let mut told = teller.outcomes(&flow, &(0..0));
                if !here.is_empty() {
                    told.insert(0, DocumentItem::group("Here", here, lines.clone()));
                }
                told
            }
        };
        items.push(when(self.kept(step), &guards, &teller, &lines));
        let mut happens = happens;
        for error in &step.expected {
            let told = format!("The error \"{}\" is acceptable.", self.error(error));
            happens.push(DocumentItem::sentence(told, lines.clone()));
        }
        if reference::is_compared(self.harness, &step.body.text) {
            let told = "The answer must be the same as that of the reference.";
            happens.push(DocumentItem::sentence(told, lines.clone()));
        }
        items.push(DocumentItem::group("What happens", happens, lines.clone()).with_level(0));
        if let Some(post) = &step.post {
            let checked = conjuncts(self.term(post, &path, &execution).fold_constants());
            let told = checked
                .iter()
                .map(|one| DocumentItem::sentence(to_sentence(&teller.plain(one)), lines.clone()));
            let label = "What is checked afterwards";
            items.push(DocumentItem::group(label, told.collect(), lines.clone()));
        }
        let section = DocumentSection {
            heading: Heading::Action(format!("Action: {title}")),
            items,
            lines,
            level: 0,
        };
        (section, !execution.limit_reached())
    }

    /// Returns the meaning of an expression with holes.
    fn term<'s: 'w>(
        &self,
        code: &'s Code<Expression>,
        path: &Path,
        execution: &Execution<'w>,
    ) -> Term {
        match &code.code {
            Some(expression) => execution.term(expression, path, &bare_frame(&code.text)),
            None => Term::Source(code.text.clone()),
        }
    }

    fn error(&self, class: &str) -> String {
        let name = tree::expression(class)
            .ok()
            .and_then(|one| error_name(&one));
        self.phraser.words(name.as_deref().unwrap_or(class))
    }

    fn inputs(&self, step: &HarnessStep<'_>, lines: &LineRange) -> DocumentItem {
        let items: Vec<DocumentItem> = self
            .slots(step)
            .iter()
            .map(|(name, number)| {
                let label = numbered(name, *number);
                DocumentItem::sentence(format!("{label}: any {name} made so far"), lines.clone())
            })
            .collect();
        if items.is_empty() {
            DocumentItem::labelled("Inputs", "none.", lines.clone())
        } else {
            DocumentItem::group("Inputs", items, lines.clone())
        }
    }

    /// Returns the pool values that an action uses: the words of the pool, and the number of the
    /// value in that pool.
    fn slots(&self, step: &HarnessStep<'_>) -> Vec<(String, u64)> {
        let mut slots: Vec<(String, u64)> = Vec::new();
        for axis in step.used() {
            if let Some(Axis::Slot { pool, .. }) = step.axes.get(axis)
                && let Some(pool) = self.harness.pools.get(pool.0)
            {
                let name = self.phraser.words(&pool.name);
                let number = slots.iter().filter(|(known, _)| *known == name).count() as u64 + 1;
                if number == 1 || pool.size > 1 {
                    slots.push((name, number));
                }
            }
        }
        slots
    }

    /// Phrases the required values: "there is a tree and a key" (L1).
    fn kept(&self, step: &HarnessStep<'_>) -> Vec<String> {
        let slots = self.slots(step);
        let Some((first, _)) = slots.first() else {
            return vec![];
        };
        let is = if is_plural(first) { "are" } else { "is" };
        let all: Vec<String> = slots
            .iter()
            .map(|(name, number)| with_article_or_some(&numbered(name, *number)))
            .collect();
        vec![format!("there {is} {}", join::nouns(&all, "and"))]
    }

    /// Writes properties: "For every H, C.", after the actions (L8).
    fn conditions<'s: 'w>(&self, all: &'s [HarnessStep<'_>]) -> Vec<DocumentItem> {
        let mut items = Vec::new();
        for step in all {
            let lines = step.lines();
            let index = LineIndex::fixed(lines.clone());
            let execution = Execution::new(self.world);
            let path = self.path(step);
            let Some(code) = &step.guard else { continue };
            let shown = |code: &str| step.holes.shown(code);
            let teller = self.teller(&execution, (&index, &code.text), &shown);
            // Written out, because a sentence about every value must show which values are meant.
            let term = execution.expanded(&self.term(code, &path, &execution));
            for conjunct in conjuncts(term.fold_constants()) {
                // A condition that always holds is left out.
                if conjunct.as_value().and_then(PythonValue::truth) == Some(true) {
                    continue;
                }
                let (conjunct, slots) = renumbered(&conjunct);
                let every: Vec<String> = slots
                    .iter()
                    .map(|(name, number)| {
                        let name = self.phraser.words(name);
                        let each = if is_plural(&name) { "all" } else { "every" };
                        format!("{each} {}", numbered(&name, u64::from(*number)))
                    })
                    .collect();
                let clause = teller.plain(&conjunct);
                let told = if every.is_empty() {
                    clause
                } else {
                    format!("for {}, {clause}", join::nouns(&every, "and"))
                };
                items.push(DocumentItem::sentence(to_sentence(&told), lines.clone()));
            }
        }
        items
    }

    /// Writes the statements that run before or after each test.
    fn around<'s: 'w>(&self, heading: &str, all: &'s [HarnessStep<'_>]) -> Option<DocumentSection> {
        let mut items = Vec::new();
        for step in all {
            let lines = step.lines();
            let index = LineIndex::fixed(lines.clone());
            let execution = Execution::new(self.world);
            let path = self.path(step);
            // Before a test there is no value that could become another one.
            if let Some((axis, value)) = step.defines() {
                let told = self.new_value(step, axis, value, &path, &execution);
                items.push(DocumentItem::sentence(told, lines));
                continue;
            }
            let shown = |code: &str| step.holes.shown(code);
            let mut teller = self.teller(&execution, (&index, &step.body.text), &shown);
            let body: &[Statement] = step.body.code.as_deref().unwrap_or_default();
            let flow = execution
                .body(body, path, &frame(&step.body.text, step))
                .flow;
            teller.decide(&[], &flow);
            items.extend(teller.outcomes(&flow, &(0..0)));
        }
        (!items.is_empty()).then(|| section(heading, items))
    }
}

/// Numbers the values of each pool in a condition from 1. Returns the condition, and the values in
/// order.
fn renumbered(condition: &Term) -> (Term, Vec<(String, u32)>) {
    let mut known: Vec<(String, u32)> = Vec::new();
    let mut slots: Vec<(String, u32)> = Vec::new();
    let condition = condition.map_parts(&mut |part| {
        let Term::Reference(reference) = part else {
            return None;
        };
        let NameRole::Pool { number } = reference.role else {
            return None;
        };
        let key = (reference.name.clone(), number);
        let at = known.iter().position(|one| *one == key).unwrap_or_else(|| {
            let same = slots.iter().filter(|(name, _)| *name == key.0).count() as u32;
            slots.push((key.0.clone(), same + 1));
            known.push(key);
            known.len() - 1
        });
        let number = slots.get(at).map_or(1, |(_, number)| *number);
        let role = NameRole::Pool { number };
        Some(
            NameReference {
                role,
                ..reference.clone()
            }
            .into(),
        )
    });
    (condition, slots)
}

/// Phrases a numbered value: "tree", "second tree".
fn numbered(name: &str, number: u64) -> String {
    match number {
        1 => name.to_owned(),
        _ => format!("{} {name}", crate::words::ordinal(number)),
    }
}

/// Returns the frame of a line's statements: assignments to slots last, those to other names do
/// not.
fn frame<'t>(text: &'t str, step: &HarnessStep<'_>) -> Frame<'t> {
    let is_slot = |axis: &Axis| matches!(axis, Axis::Slot { .. });
    let all = step.axes.iter().enumerate();
    let slots = all.filter(|(_, axis)| is_slot(axis));
    bare_frame(text).with_places(slots.map(|(axis, _)| Holes::name(axis, false)))
}

/// Returns the frame of a line's expression: all names in it belong to the harness.
fn bare_frame(text: &str) -> Frame<'_> {
    let callable = Callable {
        name: String::new(),
        parameters: vec![],
        docstring: None,
        body: vec![],
        range: 0..0,
    };
    Frame::new(text, &callable, false)
}
