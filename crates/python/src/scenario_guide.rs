//! Scenarios that guide a harness: they decide which of its lines may come next.
//!
//! A scenario is a machine, or a list of runs, whose actions are lines of the harness. An action
//! stands for the lines that contain its name as a word, or, if its function has a docstring, for
//! those that contain that text. Lines without an action may be taken at any time. Choices within a
//! line stay random.

use rustc_hash::{FxHashMap, FxHashSet};
use testwright_core::product::{ModelError, ModelState, NameId, Phase, Product};
use testwright_core::{Catalog, Error, TemplateId, TemplateSet};
use testwright_model::Filter;

use crate::{Interpreter, Models, ProcessOwner};

/// Scenarios and their current state.
pub(crate) struct ScenarioGuide<'py> {
    /// The scenarios, composed.
    product: Product<'py>,
    /// The action that stands for each template, if any.
    names: Vec<Option<NameId>>,
    /// All positions visited so far. Every test visits the same few.
    positions: Vec<ScenarioPosition>,
    /// The index of a position by its states.
    numbers: FxHashMap<Vec<Vec<ModelState>>, usize>,
    /// The index of the current position.
    current: usize,
}

/// All states that agree with the steps taken, and the templates allowed there.
struct ScenarioPosition {
    /// The states of the composed scenarios.
    states: Vec<Vec<ModelState>>,
    /// The templates that may be taken.
    allowed: TemplateSet,
    /// The positions that actions taken here led to.
    next_positions: FxHashMap<NameId, usize>,
}

/// The index of the position in which tests begin.
const START: usize = 0;

impl<'py> ScenarioGuide<'py> {
    /// Loads scenarios for a harness with these lines.
    pub(crate) fn load(
        interpreter: Interpreter<'py>,
        scenarios: &[String],
        catalog: &Catalog,
    ) -> Result<ScenarioGuide<'py>, ModelError> {
        let models = Models::load(
            interpreter,
            scenarios,
            &Filter::default(),
            ProcessOwner::Caller,
        )?;
        let texts = models.action_texts();
        let mut product = models.product;
        let start = product.initial_state(0)?;
        let start = start.ok_or_else(|| Error::new("the scenario has no run to begin with"))?;
        let mut is_used = vec![false; texts.len()];
        let names = catalog.templates().iter().map(|template| {
            let fits = |(_, text): &(NameId, LineMatcher)| text.matches(&template.class);
            let found = texts.iter().position(fits)?;
            is_used[found] = true;
            Some(texts[found].0)
        });
        let names: Vec<Option<NameId>> = names.collect();
        if let Some(unused) = is_used.iter().position(|is_used| !is_used) {
            let name = product.interner().name_text(texts[unused].0);
            let message = format!("the scenario knows `{name}`, and no line of the harness does");
            let help = "an action is called like a word of the lines it stands for, or its docstring is a part of them";
            return Err(Error::new(message).with_help(help).into());
        }
        let mut guide = ScenarioGuide {
            product,
            names,
            positions: Vec::new(),
            numbers: FxHashMap::default(),
            current: START,
        };
        guide.set_states(vec![start]);
        Ok(guide)
    }

    /// Returns to the position in which tests begin.
    pub(crate) fn begin(&mut self) {
        self.current = START;
    }

    /// Returns the action that stands for a template, if any. Templates with the same action are
    /// allowed together.
    pub(crate) fn action_name(&self, template: TemplateId) -> Option<NameId> {
        self.names[template.0]
    }

    /// Returns the templates that may be taken now.
    pub(crate) fn allowed(&self) -> &TemplateSet {
        &self.positions[self.current].allowed
    }

    /// Records that an action of a template was taken.
    #[inline(never)]
    pub(crate) fn record_action(&mut self, template: TemplateId) {
        let Some(name) = self.names[template.0] else {
            return;
        };
        let before = self.current;
        if let Some(after) = self.positions[before].next_positions.get(&name) {
            self.current = *after;
            return;
        }
        let mut after = Vec::new();
        for state in &self.positions[before].states {
            let moves = self
                .product
                .possible_steps(state, Phase::Normal)
                .unwrap_or_default();
            let taken = moves.into_iter().filter(|one| one.label.name == name);
            after.extend(taken.map(|one| one.to));
        }
        after.sort_unstable();
        after.dedup();
        self.set_states(after);
        self.positions[before]
            .next_positions
            .insert(name, self.current);
    }

    /// Returns the current states of the scenarios.
    pub(crate) fn states(&self) -> &[Vec<ModelState>] {
        &self.positions[self.current].states
    }

    /// Sets the current states of the scenarios.
    pub(crate) fn set_states(&mut self, states: Vec<Vec<ModelState>>) {
        if let Some(known) = self.numbers.get(&states) {
            self.current = *known;
            return;
        }
        let allowed = self.allowed_templates(&states);
        self.current = self.positions.len();
        self.numbers.insert(states.clone(), self.current);
        self.positions.push(ScenarioPosition {
            states,
            allowed,
            next_positions: FxHashMap::default(),
        });
    }

    /// Returns the templates that may be taken in one of these states.
    fn allowed_templates(&mut self, states: &[Vec<ModelState>]) -> TemplateSet {
        let mut possible: FxHashSet<NameId> = FxHashSet::default();
        for state in states {
            // Machines and lists of runs never fail to answer.
            let moves = self
                .product
                .possible_steps(state, Phase::Normal)
                .unwrap_or_default();
            possible.extend(moves.iter().map(|one| one.label.name));
        }
        let mut allowed = TemplateSet::default();
        for (number, name) in self.names.iter().enumerate() {
            if name.is_none_or(|name| possible.contains(&name)) {
                allowed.insert(TemplateId(number));
            }
        }
        allowed
    }
}

/// A rule for the lines that an action stands for.
pub(crate) enum LineMatcher {
    /// Lines that contain this word.
    Word(String),
    /// Lines that contain this text.
    Part(String),
}

impl LineMatcher {
    /// Returns true if the rule matches a line.
    fn matches(&self, line: &str) -> bool {
        match self {
            LineMatcher::Part(text) => line.contains(text.as_str()),
            LineMatcher::Word(word) => {
                let is_boundary = |letter: Option<char>| {
                    letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_')
                };
                line.match_indices(word.as_str()).any(|(start, _)| {
                    is_boundary(line[..start].chars().next_back())
                        && is_boundary(line[start + word.len()..].chars().next())
                })
            }
        }
    }
}
