//! Whether a model allows what really happened.

use rustc_hash::FxHashSet;
use testwright_core::product::{
    Blocked, Joint, Label, NameId, Phase, Place, Product, Refusal, Trouble, ValueId,
};

/// Something that happened: an action, its arguments and, if it is known, its result. A result that was written down in
/// a poorer language than the model's may be one of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Happened {
    /// What was done.
    pub name: NameId,
    /// With what.
    pub arguments: ValueId,
    /// What came of it.
    pub result: Option<[ValueId; 2]>,
}

/// Follows what happened through the states of a model, all of them that agree with it.
#[derive(Clone, Debug)]
pub struct Follower {
    states: Vec<Vec<Place>>,
    /// With what things happened. Nobody but the log says with what an action may be observed.
    seen: Vec<ValueId>,
}

/// How many arguments are remembered.
const MOST_SEEN: usize = 100;

/// Why something that happened is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What the model says, in each state that it may have been in.
    pub states: Vec<RefusedIn>,
}

/// Why something is not allowed in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedIn {
    /// The state.
    pub state: Vec<Place>,
    /// Why.
    pub why: Why,
    /// What would have been possible.
    pub instead: Vec<Label>,
}

/// Why something is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// No model knows an action of that name.
    Unknown,
    /// These models, by their places, do not let it happen.
    By(Vec<(usize, Refusal)>),
    /// It may happen, but something else comes of it.
    Results(Vec<ValueId>),
}

impl Follower {
    /// Begins where runs begin.
    pub fn new(product: &mut Product<'_>) -> Result<Follower, Trouble> {
        let mut follower = Follower {
            states: Vec::new(),
            seen: Vec::new(),
        };
        follower.restart(product)?;
        Ok(follower)
    }

    /// Another run begins.
    pub fn restart(&mut self, product: &mut Product<'_>) -> Result<(), Trouble> {
        self.states = product.begin(0)?.into_iter().collect();
        Ok(())
    }

    /// The states that the model may be in.
    pub fn states(&self) -> &[Vec<Place>] {
        &self.states
    }

    /// Whether what happened may end here.
    pub fn is_accepting(&self, product: &Product<'_>) -> bool {
        self.states.iter().any(|state| product.is_accepting(state))
    }

    /// Lets actions happen that nobody has written down, those of these names, any number of times: the model may be in
    /// any of the states after them. Where there are more than so many, the others are left out.
    pub(crate) fn wander(
        &mut self,
        product: &mut Product<'_>,
        names: &[NameId],
        most: usize,
    ) -> Result<(), Trouble> {
        let mut known: FxHashSet<Vec<Place>> = self.states.iter().cloned().collect();
        let mut next = 0;
        while next < self.states.len() {
            let state = self.states[next].clone();
            next += 1;
            for one in product.moves(&state, Phase::Usual)? {
                let is_meant = names.contains(&one.label.name);
                if is_meant && known.len() < most && known.insert(one.to.clone()) {
                    self.states.push(one.to);
                }
            }
        }
        Ok(())
    }

    /// Goes on with what happened, and says what it was with its result; or says why it is not allowed.
    pub fn follow(
        &mut self,
        product: &mut Product<'_>,
        happened: &Happened,
    ) -> Result<Result<Vec<Label>, Refused>, Trouble> {
        let Happened {
            name,
            arguments,
            result,
        } = *happened;
        if self.seen.len() < MOST_SEEN && !self.seen.contains(&arguments) {
            self.seen.push(arguments);
        }
        let mut after: Vec<Vec<Place>> = Vec::new();
        let mut labels: Vec<Label> = Vec::new();
        let mut refused = Vec::new();
        for state in self.states.clone() {
            let why = if !product.knows(name) {
                Why::Unknown
            } else {
                let refusals = product.refusals(&state, name, arguments)?;
                if refusals.is_empty() {
                    let done = product.perform(&state, name, arguments)?;
                    let agrees = |one: &Joint| {
                        result.is_none_or(|results| results.contains(&one.label.result))
                    };
                    let before = after.len();
                    for one in done.iter().filter(|one| agrees(one)) {
                        after.push(one.to.clone());
                        if !labels.contains(&one.label) {
                            labels.push(one.label);
                        }
                    }
                    if after.len() > before {
                        continue;
                    }
                    Why::Results(done.iter().map(|one| one.label.result).collect())
                } else {
                    Why::By(refusals)
                }
            };
            refused.push((state, why));
        }
        after.sort_unstable();
        after.dedup();
        if !after.is_empty() {
            self.states = after;
            return Ok(Ok(labels));
        }
        let mut states = Vec::new();
        for (state, why) in refused {
            states.push(RefusedIn {
                instead: self.possible(product, &state)?,
                state,
                why,
            });
        }
        Ok(Err(Refused { states }))
    }

    /// What is possible in a state: what the models say themselves, and the actions of which they do not say with what,
    /// with what has happened so far.
    fn possible(&self, product: &mut Product<'_>, state: &[Place]) -> Result<Vec<Label>, Trouble> {
        let moves = product.moves(state, Phase::Usual)?;
        let mut possible: Vec<Label> = moves.iter().map(|one| one.label).collect();
        for name in product.vocabulary().to_vec() {
            if moves.iter().any(|one| one.label.name == name) {
                continue;
            }
            for arguments in &self.seen {
                match allowed(product, state, name, *arguments) {
                    Ok(labels) => possible.extend(labels),
                    Err(Trouble::Interrupted) => return Err(Trouble::Interrupted),
                    // It was only a guess that the action could be done with these.
                    Err(_) => {}
                }
            }
        }
        Ok(possible)
    }
}

/// What may come of an action, if it may happen.
fn allowed(
    product: &mut Product<'_>,
    state: &[Place],
    name: NameId,
    arguments: ValueId,
) -> Result<Vec<Label>, Trouble> {
    if !product.allows(state, name, arguments)? {
        return Ok(Vec::new());
    }
    let done = product.perform(state, name, arguments)?;
    Ok(done.into_iter().map(|one| one.label).collect())
}

/// Says who does not let an action happen, in a sentence.
pub fn explain(product: &Product<'_>, by: &[(usize, Refusal)]) -> String {
    let words = product.words();
    let each = by.iter().map(|(model, refusal)| {
        let name = product.models()[*model].name();
        match refusal {
            Refusal::Guard(guard) => format!("{name}: the guard `{guard}` says no"),
            Refusal::Filter => format!("{name}: the state after it is filtered out"),
            Refusal::Result(result) => {
                let result = words.value_text(*result).plain();
                format!("{name}: the result would be {result}")
            }
            Refusal::Domain => format!("{name}: its domains have no such arguments"),
            Refusal::Scenario { state, instead } if instead.is_empty() => {
                format!("{name}: nothing is meant to happen in its state {state}")
            }
            Refusal::Scenario { state, instead } => {
                let few: Vec<String> = instead
                    .iter()
                    .take(3)
                    .map(|label| crate::step_text(words, *label))
                    .collect();
                let more = if instead.len() > few.len() {
                    ", …"
                } else {
                    ""
                };
                format!(
                    "{name}: in its state {state} it lets only {}{more} happen",
                    few.join(", ")
                )
            }
        }
    });
    each.collect::<Vec<String>>().join("; ")
}

/// What is not possible and why, summed up: the same reason for the same action with many arguments is said once.
pub fn explain_all(product: &Product<'_>, blocked: &[Blocked]) -> Vec<String> {
    let words = product.words();
    let mut groups: Vec<(NameId, String, Vec<ValueId>)> = Vec::new();
    for one in blocked {
        let why = explain(product, &one.by);
        let same = groups
            .iter_mut()
            .find(|(name, other, _)| *name == one.name && *other == why);
        match same {
            Some((_, _, all)) => all.push(one.arguments),
            None => groups.push((one.name, why, vec![one.arguments])),
        }
    }
    let line = |(name, why, all): &(NameId, String, Vec<ValueId>)| {
        let first = words.value_text(all[0]).plain();
        let name = words.name_text(*name);
        match all.len() {
            1 => format!("{name}{first}: {why}"),
            more => format!("{name}{first} and {} more: {why}", more - 1),
        }
    };
    groups.iter().map(line).collect()
}

/// The models that do not accept a state, each in a sentence.
pub fn not_accepting(product: &Product<'_>, state: &[Place]) -> Vec<String> {
    let each = product.models().iter().zip(state);
    let against = each.filter(|(model, place)| !model.is_accepting(**place));
    against
        .map(|(model, place)| {
            format!(
                "{} does not accept its state {}",
                model.name(),
                model.text(*place)
            )
        })
        .collect()
}
