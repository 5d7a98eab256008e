//! A product as a [`System`]: what can be done to a harness can be done to models, too.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use testwright_core::product::{Joint, NameId, Phase, Place, Product, Trouble, ValueId};
use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Error, Failure, FailureKind, Fingerprint, Likeness,
    Outcome, Random, Snapshot, System, TargetId, TemplateId, TooManyActions,
};

mod meeting;
mod taken;
mod together;

use taken::Taken;
pub use taken::TakenTransition;
use together::Companion;

/// A product that is led around.
///
/// An action is a name with arguments. What comes of it is up to the models, and if they leave that open the system is
/// in several states at a time. Which actions there are is not known beforehand, since models compute their arguments:
/// the [`Catalog`] has a template for each name, and those actions that were possible somewhere until now.
///
/// A test fails where the code of a model raises, where an invariant is false, and where nothing is possible although
/// no run may end there. A transition that was taken counts as touched ([`Covered`]).
pub struct Walk<'w, 'm> {
    product: &'w mut Product<'m>,
    starts: Vec<Vec<Place>>,
    states: Vec<Vec<Place>>,
    /// What is possible now in each of the states, once somebody has asked.
    possible: Option<Vec<Rc<[Joint]>>>,
    /// What was found to be possible in a state.
    known: FxHashMap<Vec<Place>, Rc<[Joint]>>,
    actions: Catalog,
    /// By name: its template, and what its actions have for arguments.
    names: FxHashMap<NameId, TemplateId>,
    arguments: Vec<(NameId, Vec<Option<ValueId>>)>,
    numbers: FxHashMap<(NameId, ValueId), ActionId>,
    /// All actions by what they are called, once somebody has spoken of one who knows only that. One that was not met
    /// yet has no arguments.
    named: Option<FxHashMap<(TemplateId, String), ActionId>>,
    taken: Taken,
    /// What does the same, if anything.
    companion: Option<Companion<'m>>,
    /// Why it could not be found out what is possible.
    trouble: Option<Trouble>,
}

/// Of so many states it is remembered what is possible there. Whoever walks comes by the same ones again and again.
const MOST_KNOWN: usize = 1 << 16;

impl<'w, 'm> Walk<'w, 'm> {
    /// A product in its initial state. If there is a suite among the models, it is at the beginning of any of its runs.
    pub fn new(product: &'w mut Product<'m>) -> Result<Walk<'w, 'm>, Trouble> {
        let mut starts = Vec::new();
        while let Some(start) = product.begin(starts.len())? {
            starts.push(start);
            if !product.has_suite() {
                break;
            }
        }
        Walk::beginning_in(product, starts)
    }

    /// A product where a run begins; they differ if there is a suite among the models.
    pub fn beginning_with(
        product: &'w mut Product<'m>,
        run: usize,
    ) -> Result<Walk<'w, 'm>, Trouble> {
        let start = product.begin(run)?;
        Walk::beginning_in(product, start.into_iter().collect())
    }

    fn beginning_in(
        product: &'w mut Product<'m>,
        mut starts: Vec<Vec<Place>>,
    ) -> Result<Walk<'w, 'm>, Trouble> {
        if starts.is_empty() {
            return Err(Error::new("the models have no run to begin with").into());
        }
        starts.sort_unstable();
        starts.dedup();
        let vocabulary = product.vocabulary().to_vec();
        let mut walk = Walk {
            product,
            states: starts.clone(),
            starts,
            possible: None,
            known: FxHashMap::default(),
            actions: Catalog::default(),
            names: FxHashMap::default(),
            arguments: Vec::new(),
            numbers: FxHashMap::default(),
            named: None,
            taken: Taken::default(),
            companion: None,
            trouble: None,
        };
        for name in vocabulary {
            walk.template(name).map_err(too_many)?;
        }
        Ok(walk)
    }

    /// The models.
    pub fn product(&self) -> &Product<'m> {
        self.product
    }

    /// The models, for somebody else to use between two walks.
    pub(crate) fn product_mut(&mut self) -> &mut Product<'m> {
        self.product
    }

    /// The states that the models may be in now.
    pub fn states(&self) -> &[Vec<Place>] {
        &self.states
    }

    /// Where runs begin.
    pub fn starts(&self) -> &[Vec<Place>] {
        &self.starts
    }

    fn template(&mut self, name: NameId) -> Result<TemplateId, TooManyActions> {
        if let Some(template) = self.names.get(&name) {
            return Ok(*template);
        }
        let class = self.product.words().name_text(name).to_owned();
        let template = self.actions.open(class, name.0 as usize + 1)?;
        self.names.insert(name, template);
        self.arguments.push((name, Vec::new()));
        Ok(template)
    }

    /// The number of an action, which may be new.
    pub fn action(&mut self, name: NameId, arguments: ValueId) -> Result<ActionId, Error> {
        if let Some(known) = self.numbers.get(&(name, arguments)) {
            return Ok(*known);
        }
        let number = || Error::new("the models have more actions than can be numbered");
        let template = self.template(name).map_err(|_| number())?;
        // A text with line ends would be several lines of a saved test.
        let text = self.product.words().value_text(arguments).plain();
        let text = if text.contains(['\n', '\r']) {
            self.product.words().value_text(arguments).literal.clone()
        } else {
            text.to_owned()
        };
        let named = self.named.as_ref();
        let heard_of = named.and_then(|named| named.get(&(template, text.clone())).copied());
        // Of several that are called alike, the first to be met is meant.
        let action = match heard_of.filter(|action| self.chosen(*action).is_none()) {
            Some(action) => {
                let (_, values) = self.actions.values(action);
                self.arguments[template.0].1[values[0] as usize] = Some(arguments);
                action
            }
            None => {
                let action = self.add(template, text).map_err(|_| number())?;
                self.arguments[template.0].1.push(Some(arguments));
                action
            }
        };
        self.numbers.insert((name, arguments), action);
        Ok(action)
    }

    fn add(&mut self, template: TemplateId, text: String) -> Result<ActionId, TooManyActions> {
        let action = self.actions.add(template, text.clone())?;
        if let Some(named) = &mut self.named {
            named.entry((template, text)).or_insert(action);
        }
        Ok(action)
    }

    /// The actions by what they are called.
    fn named(&mut self) -> &mut FxHashMap<(TemplateId, String), ActionId> {
        let actions = &self.actions;
        self.named.get_or_insert_with(|| {
            let mut named = FxHashMap::default();
            for action in actions.ids() {
                if let Some((_, rest)) = actions.name(action) {
                    let key = (actions.template_of(action), rest.to_owned());
                    named.entry(key).or_insert(action);
                }
            }
            named
        })
    }

    /// The name and the arguments of an action; nothing if it was only heard of.
    pub fn chosen(&self, action: ActionId) -> Option<(NameId, ValueId)> {
        let (template, values) = self.actions.values(action);
        let (name, arguments) = &self.arguments[template.0];
        Some((*name, (*arguments.get(values[0] as usize)?)?))
    }

    /// Finds out what is possible, unless that is known.
    fn look(&mut self) {
        if self.possible.is_some() {
            return;
        }
        let mut all = Vec::new();
        for state in self.states.clone() {
            match self.moves(&state) {
                Ok(moves) => all.push(moves),
                Err(trouble) => self.trouble = Some(trouble),
            }
        }
        self.possible = Some(all);
    }

    /// What is possible in a state. Its actions have numbers then.
    fn moves(&mut self, state: &[Place]) -> Result<Rc<[Joint]>, Trouble> {
        if let Some(known) = self.known.get(state) {
            return Ok(Rc::clone(known));
        }
        let moves: Rc<[Joint]> = self.product.moves(state, Phase::Usual)?.into();
        for one in moves.iter() {
            self.action(one.label.name, one.label.arguments)?;
        }
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(state.to_vec(), Rc::clone(&moves));
        Ok(moves)
    }

    /// All that is possible now.
    fn joints(&mut self) -> impl Iterator<Item = &Joint> {
        self.look();
        let all = self.possible.as_deref().unwrap_or_default();
        all.iter().flat_map(|moves| moves.iter())
    }

    fn possible(&mut self) -> Vec<ActionId> {
        let labels: Vec<_> = self.joints().map(|one| one.label).collect();
        let known = labels
            .iter()
            .filter_map(|label| self.numbers.get(&(label.name, label.arguments)));
        let mut actions: Vec<ActionId> = known.copied().collect();
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    fn go(&mut self, states: Vec<Vec<Place>>) {
        self.states = states;
        self.possible = None;
        self.trouble = None;
    }

    fn take(&mut self, action: ActionId) {
        let chosen = self.chosen(action);
        let fits = |one: &&Joint| Some((one.label.name, one.label.arguments)) == chosen;
        let taken = self.joints().filter(fits);
        let mut after: Vec<Vec<Place>> = taken.map(|one| one.to.clone()).collect();
        after.sort_unstable();
        after.dedup();
        self.taken.note(&self.states, action);
        self.go(after);
    }

    /// Whether the models say what is possible now.
    fn answer(&mut self) -> Outcome {
        self.look();
        match &self.trouble {
            None => Outcome::Passed,
            Some(Trouble::Interrupted) => Outcome::Interrupted,
            Some(trouble) => Outcome::Failed(Box::new(failure_of(trouble))),
        }
    }

    /// Where a way that goes wrong has come to: a state with a false invariant, or where nothing is possible although
    /// no run may end.
    fn wrong(&mut self) -> Option<Failure> {
        self.look();
        let product = &*self.product;
        let moves = self.possible.as_deref().unwrap_or_default();
        for (state, moves) in self.states.iter().zip(moves) {
            let models = product.models().iter().zip(state);
            let mut unsafe_ones = models.filter(|(model, place)| !model.is_safe(**place));
            let (message, signature) = if let Some((model, _)) = unsafe_ones.next() {
                let name = model.name();
                (
                    format!("the invariant of `{name}` is false"),
                    format!("invariant of {name}"),
                )
            } else if moves.is_empty() && !product.is_accepting(state) {
                let message = "a dead end: nothing is possible, and no run may end here";
                (message.to_owned(), "dead end".to_owned())
            } else {
                continue;
            };
            return Some(Failure {
                kind: FailureKind::Property,
                message,
                signature,
                details: format!("in the state {}", crate::state_text(product, state)),
            });
        }
        None
    }
}

fn too_many(error: TooManyActions) -> Trouble {
    Error::new(error.to_string()).into()
}

fn failure_of(trouble: &Trouble) -> Failure {
    let details = match trouble {
        Trouble::Raised { traceback, .. } => traceback.clone(),
        _ => String::new(),
    };
    let message = trouble.to_string();
    Failure {
        kind: FailureKind::UncaughtException,
        signature: message.clone(),
        message,
        details,
    }
}

impl System for Walk<'_, '_> {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn number(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        let templates = self.actions.templates();
        let template = TemplateId(templates.iter().position(|one| one.class == class)?);
        if let Some(known) = self.named().get(&(template, rest.to_owned())) {
            return Some(*known);
        }
        let action = self.add(template, rest.to_owned()).ok()?;
        self.arguments[template.0].1.push(None);
        Some(action)
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.ready_companion()?;
        self.go(self.starts.clone());
        self.look();
        match &self.trouble {
            None | Some(Trouble::Interrupted) => Ok(()),
            Some(Trouble::Unusable(error)) => Err(error.clone()),
            Some(trouble) => {
                let mut message = format!("where runs begin, a model raises {trouble}");
                for line in failure_of(trouble).details.lines() {
                    message.push_str("\n  ");
                    message.push_str(line);
                }
                Err(Error::new(message))
            }
        }
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        // It may be met only now.
        self.look();
        let chosen = self.chosen(action);
        let mut joints = self.joints();
        joints.any(|one| Some((one.label.name, one.label.arguments)) == chosen)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let possible = self.possible();
        let place = random.below(possible.len() as u64);
        possible.get(place as usize).copied()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.possible()
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        match &self.companion {
            None => self.take(action),
            Some(_) => {
                if let Some(wrong) = self.step_together(action) {
                    return wrong;
                }
            }
        }
        // Only by trying is it known what a model does next, so this is where its code raises.
        self.answer()
    }

    fn check(&mut self) -> Outcome {
        match (self.answer(), self.wrong()) {
            (Outcome::Passed, Some(failure)) => Outcome::Failed(Box::new(failure)),
            (answer, _) => answer,
        }
    }
}

impl Snapshot for Walk<'_, '_> {
    type State = Vec<Vec<Place>>;

    fn snapshot(&mut self) -> Result<Self::State, Error> {
        Ok(self.states.clone())
    }

    fn restore(&mut self, state: &Self::State) -> Result<(), Error> {
        self.go(state.clone());
        Ok(())
    }
}

impl Fingerprint for Walk<'_, '_> {
    fn fingerprint(&mut self, _likeness: Likeness) -> Result<u128, Error> {
        Ok(crate::graph::key_of_set(&self.states))
    }
}

impl Covered for Walk<'_, '_> {
    fn all_touched(&self) -> Coverage {
        self.taken.all()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        self.taken.take_new()
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        self.taken.begin_anew();
        Ok(())
    }

    fn touched(&self) -> Coverage {
        self.taken.since()
    }
}
