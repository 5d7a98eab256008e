//! Scenarios that lead a harness: which of its lines may come next.
//!
//! A scenario is a machine, or a list of runs, whose actions are lines of the harness. An action stands for the lines in
//! which its name occurs as a word, or, if its function has a docstring, for those in which that text occurs. Lines for
//! which no action stands may be taken at any time; what is chosen in a line is up to chance as ever.

use rustc_hash::{FxHashMap, FxHashSet};
use testwright_core::product::{NameId, Phase, Place, Product, Trouble};
use testwright_core::{Catalog, Error, TemplateId, TemplateSet};
use testwright_model::Filter;

use crate::{Interpreter, Models, Process};

/// Scenarios, and where they are.
pub(crate) struct Guidance<'py> {
    product: Product<'py>,
    /// By template: the action that stands for it.
    names: Vec<Option<NameId>>,
    /// Where the scenarios have been. They come by the same few spots in every test.
    spots: Vec<Spot>,
    numbers: FxHashMap<Vec<Vec<Place>>, usize>,
    /// Where they are.
    now: usize,
}

/// All states that agree with what was done, and what may come next there.
struct Spot {
    states: Vec<Vec<Place>>,
    /// The templates that may be taken.
    allowed: TemplateSet,
    /// Where actions lead that were taken here before.
    after: FxHashMap<NameId, usize>,
}

/// Where tests begin.
const START: usize = 0;

impl<'py> Guidance<'py> {
    /// Reads scenarios for a harness with these lines.
    pub(crate) fn load(
        interpreter: Interpreter<'py>,
        scenarios: &[String],
        catalog: &Catalog,
    ) -> Result<Guidance<'py>, Trouble> {
        let models = Models::load(
            interpreter,
            scenarios,
            &Filter::default(),
            Process::OfTheCaller,
        )?;
        let texts = models.texts_of_actions();
        let mut product = models.product;
        let start = product.begin(0)?;
        let start = start.ok_or_else(|| Error::new("the scenario has no run to begin with"))?;
        let mut stands = vec![false; texts.len()];
        let names = catalog.templates().iter().map(|template| {
            let fits = |(_, text): &(NameId, Text)| text.is_in(&template.class);
            let found = texts.iter().position(fits)?;
            stands[found] = true;
            Some(texts[found].0)
        });
        let names: Vec<Option<NameId>> = names.collect();
        if let Some(unused) = stands.iter().position(|is_used| !is_used) {
            let name = product.words().name_text(texts[unused].0);
            let message = format!("the scenario knows `{name}`, and no line of the harness does");
            let help = "an action is called like a word of the lines it stands for, or its docstring is a part of them";
            return Err(Error::new(message).with_help(help).into());
        }
        let mut guidance = Guidance {
            product,
            names,
            spots: Vec::new(),
            numbers: FxHashMap::default(),
            now: START,
        };
        guidance.go(vec![start]);
        Ok(guidance)
    }

    /// Back to where a test begins.
    pub(crate) fn begin(&mut self) {
        self.now = START;
    }

    /// The action that stands for a template, if there is one: templates of the same are allowed together.
    pub(crate) fn name_of(&self, template: TemplateId) -> Option<NameId> {
        self.names[template.0]
    }

    /// The templates that may be taken now.
    pub(crate) fn allowed(&self) -> &TemplateSet {
        &self.spots[self.now].allowed
    }

    /// An action of a template was taken.
    #[inline(never)]
    pub(crate) fn took(&mut self, template: TemplateId) {
        let Some(name) = self.names[template.0] else {
            return;
        };
        let before = self.now;
        if let Some(after) = self.spots[before].after.get(&name) {
            self.now = *after;
            return;
        }
        let mut after = Vec::new();
        for state in &self.spots[before].states {
            let moves = self.product.moves(state, Phase::Usual).unwrap_or_default();
            let taken = moves.into_iter().filter(|one| one.label.name == name);
            after.extend(taken.map(|one| one.to));
        }
        after.sort_unstable();
        after.dedup();
        self.go(after);
        self.spots[before].after.insert(name, self.now);
    }

    /// Where the scenarios are.
    pub(crate) fn states(&self) -> &[Vec<Place>] {
        &self.spots[self.now].states
    }

    /// Makes the scenarios be somewhere.
    pub(crate) fn go(&mut self, states: Vec<Vec<Place>>) {
        if let Some(known) = self.numbers.get(&states) {
            self.now = *known;
            return;
        }
        let allowed = self.look(&states);
        self.now = self.spots.len();
        self.numbers.insert(states.clone(), self.now);
        self.spots.push(Spot {
            states,
            allowed,
            after: FxHashMap::default(),
        });
    }

    /// The templates that may be taken in one of these states.
    fn look(&mut self, states: &[Vec<Place>]) -> TemplateSet {
        let mut possible: FxHashSet<NameId> = FxHashSet::default();
        for state in states {
            // Machines and lists of runs always answer.
            let moves = self.product.moves(state, Phase::Usual).unwrap_or_default();
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

/// What lines an action stands for.
pub(crate) enum Text {
    /// Those that have this word.
    Word(String),
    /// Those that have this text.
    Part(String),
}

impl Text {
    fn is_in(&self, line: &str) -> bool {
        match self {
            Text::Part(text) => line.contains(text.as_str()),
            Text::Word(word) => {
                let is_apart = |letter: Option<char>| {
                    letter.is_none_or(|letter| !letter.is_alphanumeric() && letter != '_')
                };
                line.match_indices(word.as_str()).any(|(place, _)| {
                    is_apart(line[..place].chars().next_back())
                        && is_apart(line[place + word.len()..].chars().next())
                })
            }
        }
    }
}
