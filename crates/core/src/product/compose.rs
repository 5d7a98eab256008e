//! What models do together.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::{Label, Model, Move, NameId, Phase, Place, Refusal, Trouble, ValueId, Words};

/// Models that do together what several of them know by name.
///
/// A step is possible if it is possible in some model, and every model that knows its name allows it: a program with
/// the very same arguments and result, a scenario also by leaving both open ([`Label::is_wildcard`]). A state is one
/// state of each; it is accepting, or safe, if each of them is.
pub struct Product<'m> {
    words: Words,
    models: Vec<Box<dyn Model + 'm>>,
    /// Scenarios first: what they offer decides what may be observed, and their order is that of the author.
    order: Vec<usize>,
    /// By name: who knows it.
    owners: Vec<Vec<usize>>,
    vocabulary: Vec<NameId>,
}

/// A step of a product, and where it leads each model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joint {
    /// The step.
    pub label: Label,
    /// The state after it.
    pub to: Vec<Place>,
}

/// An action that is not possible, and who does not let it happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The action.
    pub name: NameId,
    /// Its arguments.
    pub arguments: ValueId,
    /// The models by their places, and why.
    pub by: Vec<(usize, Refusal)>,
}

impl<'m> Product<'m> {
    /// Models to compose, in the order in which the person named them.
    pub fn new(words: Words, models: Vec<Box<dyn Model + 'm>>) -> Product<'m> {
        let mut product = Product {
            words,
            models: Vec::new(),
            order: Vec::new(),
            owners: Vec::new(),
            vocabulary: Vec::new(),
        };
        models.into_iter().for_each(|model| product.add(model));
        product
    }

    /// Adds a model to the others.
    pub fn add(&mut self, model: Box<dyn Model + 'm>) {
        let number = self.models.len();
        for name in model.vocabulary() {
            let place = name.0 as usize;
            if place >= self.owners.len() {
                self.owners.resize(place + 1, Vec::new());
            }
            let owners = &mut self.owners[place];
            if owners.is_empty() {
                self.vocabulary.push(*name);
            }
            if owners.last() != Some(&number) {
                owners.push(number);
            }
        }
        self.models.push(model);
        let models = &self.models;
        self.order.push(number);
        self.order
            .sort_by_key(|model| !models[*model].is_scenario());
    }

    /// Names and values.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// Names and values, to add to them.
    pub fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    /// The models, in the order in which the person named them.
    pub fn models(&self) -> &[Box<dyn Model + 'm>] {
        &self.models
    }

    /// The names that some model knows, in order of first sight.
    pub fn vocabulary(&self) -> &[NameId] {
        &self.vocabulary
    }

    /// A state in a form that a copy of the product in another process understands: a part for each model.
    pub fn export(&self, state: &[Place]) -> Option<Vec<Vec<u8>>> {
        let each = self.models.iter().zip(state);
        each.map(|(model, place)| model.export(*place)).collect()
    }

    /// The state that a copy of the product in another process speaks of.
    pub fn import(&mut self, state: &[&[u8]]) -> Option<Vec<Place>> {
        let each = self.models.iter_mut().zip(state);
        each.map(|(model, part)| model.import(part)).collect()
    }

    /// Whether a model has a certain number of runs, so that the product has, too.
    pub fn has_suite(&self) -> bool {
        self.models.iter().any(|model| model.is_suite())
    }

    /// How many runs there are, if a model has a certain number of them.
    pub fn runs(&self) -> Option<usize> {
        self.models.iter().filter_map(|model| model.runs()).min()
    }

    /// The first model that does not say how to begin another run.
    pub fn without_reset(&self) -> Option<&str> {
        let model = self.models.iter().find(|model| !model.can_reset())?;
        Some(model.name())
    }

    /// Who knows a name.
    fn owners(&self, name: NameId) -> &[usize] {
        self.owners.get(name.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Whether anybody knows a name.
    pub fn knows(&self, name: NameId) -> bool {
        !self.owners(name).is_empty()
    }

    /// Where a run begins; `None` if there is no such run.
    pub fn start(&mut self, run: usize) -> Result<Option<Vec<Place>>, Trouble> {
        self.each_start(|model| model.start(run))
    }

    /// The same without asking the models' own code to make a run begin.
    pub fn begin(&mut self, run: usize) -> Result<Option<Vec<Place>>, Trouble> {
        self.each_start(|model| model.begin(run))
    }

    fn each_start(
        &mut self,
        start: impl Fn(&mut dyn Model) -> Result<Option<Place>, Trouble>,
    ) -> Result<Option<Vec<Place>>, Trouble> {
        // A suite that is at its end must say so before others are made to begin anew.
        let mut places = vec![None; self.models.len()];
        for number in &self.order {
            places[*number] = start(self.models[*number].as_mut())?;
            if places[*number].is_none() {
                return Ok(None);
            }
        }
        Ok(places.into_iter().collect())
    }

    /// Makes the models let go of the states that they were left in ([`Model::leave`]).
    pub fn leave(&mut self) {
        self.models.iter_mut().for_each(|model| model.leave());
    }

    /// What is possible in a state, each once.
    pub fn moves(&mut self, from: &[Place], phase: Phase) -> Result<Vec<Joint>, Trouble> {
        if let [model] = self.models.as_mut_slice() {
            let moves = distinct(model.moves(&mut self.words, from[0], phase, &[])?);
            let joint = |one: Move| Joint {
                label: one.label,
                to: vec![one.to],
            };
            return Ok(moves.into_iter().map(joint).collect());
        }
        let mut possible: Vec<Vec<Move>> = vec![Vec::new(); self.models.len()];
        let mut offers = Vec::new();
        for number in &self.order {
            let model = &mut self.models[*number];
            let moves = model.moves(&mut self.words, from[*number], phase, &offers)?;
            if model.is_scenario() {
                offers.extend(moves.iter().map(|one| one.label));
            }
            possible[*number] = moves;
        }
        let mut seen = FxHashSet::default();
        let mut joints = Vec::new();
        for number in &self.order {
            for one in &possible[*number] {
                if seen.insert(one.label) {
                    self.join(from, one.label, &possible, &mut joints);
                }
            }
        }
        Ok(joints)
    }

    /// Adds all ways in which the models can take a step together.
    fn join(&self, from: &[Place], label: Label, possible: &[Vec<Move>], joints: &mut Vec<Joint>) {
        let mut ways = vec![from.to_vec()];
        for owner in self.owners(label.name) {
            let open = self.models[*owner].is_scenario();
            let fits = |one: &&Move| {
                one.label == label
                    || (open && one.label.is_wildcard() && one.label.name == label.name)
            };
            let targets = possible[*owner].iter().filter(fits).map(|one| one.to);
            let targets = distinct(targets.collect());
            ways = each_way(&ways, *owner, &targets);
        }
        joints.extend(ways.into_iter().map(|to| Joint { label, to }));
    }

    /// Whether an action that somebody else has chosen may happen in a state. What nobody knows may not.
    pub fn allows(
        &mut self,
        from: &[Place],
        name: NameId,
        arguments: ValueId,
    ) -> Result<bool, Trouble> {
        Ok(self.knows(name) && self.refusals(from, name, arguments)?.is_empty())
    }

    /// Which models do not allow an action that somebody else has chosen, and why.
    pub fn refusals(
        &mut self,
        from: &[Place],
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<(usize, Refusal)>, Trouble> {
        let mut all = Vec::new();
        for owner in self.owners(name).to_vec() {
            let refusal =
                self.models[owner].refusal(&mut self.words, from[owner], name, arguments)?;
            all.extend(refusal.map(|refusal| (owner, refusal)));
        }
        Ok(all)
    }

    /// Why what is not possible in a state is not: of each action that a model tries or a scenario means, who does not
    /// let it happen.
    pub fn explain(&mut self, from: &[Place]) -> Result<Vec<Blocked>, Trouble> {
        let mut offers = Vec::new();
        let mut possible: Vec<Vec<Move>> = vec![Vec::new(); self.models.len()];
        let mut refused: Vec<Vec<(NameId, ValueId, Refusal)>> = vec![Vec::new(); self.models.len()];
        for number in &self.order {
            let model = &mut self.models[*number];
            let words = &mut self.words;
            possible[*number] = model.moves(words, from[*number], Phase::Usual, &offers)?;
            refused[*number] = model.refusals(words, from[*number], &offers)?;
            if model.is_scenario() {
                offers.extend(possible[*number].iter().map(|one| one.label));
            }
        }
        let mut blocked: Vec<Blocked> = Vec::new();
        for number in self.order.clone() {
            for one in std::mem::take(&mut refused[number]) {
                // A scenario may have asked for it already.
                let (name, arguments, refusal) = one;
                let is_known = |other: &Blocked| (other.name, other.arguments) == (name, arguments);
                if !blocked.iter().any(is_known) {
                    let by = vec![(number, refusal)];
                    blocked.push(Blocked {
                        name,
                        arguments,
                        by,
                    });
                }
            }
            // A wildcard is no action by itself; what it stands for is looked at where it is possible.
            let is_open = self.models[number].is_scenario();
            let own: Vec<Label> = possible[number].iter().map(|one| one.label).collect();
            for label in own {
                let is_shared = self.owners(label.name).len() > 1;
                if is_shared && !(is_open && label.is_wildcard()) {
                    let by = self.others_against(from, number, label, &possible)?;
                    if !by.is_empty() {
                        blocked.push(Blocked {
                            name: label.name,
                            arguments: label.arguments,
                            by,
                        });
                    }
                }
            }
        }
        Ok(blocked)
    }

    /// Which models, but for one, do not let a step happen that this one would take.
    fn others_against(
        &mut self,
        from: &[Place],
        one: usize,
        label: Label,
        possible: &[Vec<Move>],
    ) -> Result<Vec<(usize, Refusal)>, Trouble> {
        let mut by = Vec::new();
        for owner in self.owners(label.name).to_vec() {
            let model = &mut self.models[owner];
            let open = model.is_scenario();
            let allows = |other: &Move| {
                other.label == label
                    || other.label.name == label.name && open && other.label.is_wildcard()
            };
            if owner == one || possible[owner].iter().any(allows) {
                continue;
            }
            let (name, arguments) = (label.name, label.arguments);
            let refusal = match model.refusal(&mut self.words, from[owner], name, arguments)? {
                Some(refusal) => refusal,
                None => {
                    let same = |other: &&Move| {
                        (other.label.name, other.label.arguments) == (name, arguments)
                    };
                    match possible[owner].iter().find(same) {
                        Some(other) => Refusal::Result(other.label.result),
                        None => Refusal::Domain,
                    }
                }
            };
            by.push((owner, refusal));
        }
        Ok(by)
    }

    /// What comes of an action that somebody else has chosen; nothing, if nobody knows it. Where models leave the
    /// result open, too, there is a step for each.
    pub fn perform(
        &mut self,
        from: &[Place],
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<Joint>, Trouble> {
        let mut done: Vec<(usize, Vec<Move>)> = Vec::new();
        for owner in self.owners(name).to_vec() {
            let moves =
                self.models[owner].perform(&mut self.words, from[owner], name, arguments)?;
            done.push((owner, moves));
        }
        if done.is_empty() {
            return Ok(Vec::new());
        }
        let results = self.results(&done);
        let mut joints = Vec::new();
        for result in &results {
            joints.extend(self.performed(from, name, arguments, *result, &done, true));
        }
        // What was observed has happened, even if models do not agree on what came of it.
        if let (true, Some(result)) = (joints.is_empty(), results.first()) {
            joints = self.performed(from, name, arguments, *result, &done, false);
        }
        Ok(joints)
    }

    /// The results that models speak of. A program computes what the result is; a scenario at most says what it
    /// should be.
    fn results(&self, done: &[(usize, Vec<Move>)]) -> Vec<ValueId> {
        let all = |of_scenarios: bool| {
            let mut results: Vec<ValueId> = Vec::new();
            for (owner, moves) in done {
                if self.models[*owner].is_scenario() != of_scenarios {
                    continue;
                }
                for one in moves {
                    if !results.contains(&one.label.result) {
                        results.push(one.label.result);
                    }
                }
            }
            results
        };
        let computed = all(false);
        if computed.is_empty() {
            all(true)
        } else {
            computed
        }
    }

    /// The ways in which models take an action that has this result. One that does not know of it takes part in its own
    /// way, unless all have to agree.
    fn performed(
        &self,
        from: &[Place],
        name: NameId,
        arguments: ValueId,
        result: ValueId,
        done: &[(usize, Vec<Move>)],
        all_agree: bool,
    ) -> Vec<Joint> {
        let mut ways = vec![from.to_vec()];
        for (owner, moves) in done {
            let agrees = |one: &Move| one.label.result == result || one.label.is_wildcard();
            let any = !all_agree && !moves.iter().any(agrees);
            let fitting = moves.iter().filter(|one| any || agrees(one));
            let targets = distinct(fitting.map(|one| one.to).collect());
            ways = each_way(&ways, *owner, &targets);
        }
        let label = Label {
            name,
            arguments,
            result,
        };
        ways.into_iter().map(|to| Joint { label, to }).collect()
    }

    /// Whether a run may end in a state.
    pub fn is_accepting(&self, state: &[Place]) -> bool {
        let mut each = self.models.iter().zip(state);
        each.all(|(model, place)| model.is_accepting(*place))
    }

    /// Whether all invariants hold in a state.
    pub fn is_safe(&self, state: &[Place]) -> bool {
        let mut each = self.models.iter().zip(state);
        each.all(|(model, place)| model.is_safe(*place))
    }
}

/// Each once, in the order in which they came.
fn distinct<T: Copy + Eq + Hash>(mut all: Vec<T>) -> Vec<T> {
    if all.len() > FEW {
        let mut seen = FxHashSet::default();
        all.retain(|one| seen.insert(*one));
        return all;
    }
    for last in (1..all.len()).rev() {
        if all[..last].contains(&all[last]) {
            all.remove(last);
        }
    }
    all
}

/// So many are compared faster one by one.
const FEW: usize = 8;

fn each_way(ways: &[Vec<Place>], owner: usize, targets: &[Place]) -> Vec<Vec<Place>> {
    let mut further = Vec::with_capacity(ways.len() * targets.len());
    for way in ways {
        for target in targets {
            let mut way = way.clone();
            way[owner] = *target;
            further.push(way);
        }
    }
    further
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::Machine;

    /// What the product of a program and a scenario can do first.
    fn check(program: &[&str], scenario: &[&str], forbidden: &[&str], expected: &[&str]) {
        let mut words = Machine::words();
        let program = Machine::program(&mut words, "program", program);
        let scenario = Machine::scenario(&mut words, "scenario", scenario);
        let scenario = scenario.forbidding(&mut words, forbidden);
        let mut product = Product::new(words, vec![Box::new(program), Box::new(scenario)]);
        let start = product.start(0).unwrap().unwrap();
        let moves = product.moves(&start, Phase::Usual).unwrap();
        let words = product.words();
        let text = |value: ValueId| &words.value_text(value).literal;
        let shown: Vec<String> = moves
            .iter()
            .map(|one| {
                let label = one.label;
                let name = words.name_text(label.name);
                format!("{name}{}/{}", text(label.arguments), text(label.result))
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_same_arguments_and_result_synchronise() {
        check(&["s A(1)/r t"], &["a A(1)/r b"], &[], &["A(1)/r"]);
    }

    #[test]
    fn no_result_is_not_any_result() {
        check(&["s A(1)/r t"], &["a A(1) b"], &[], &[]);
    }

    #[test]
    fn nothing_said_stands_for_anything() {
        let program = ["s A(1)/r t", "s A(2) t"];
        check(&program, &["a A b"], &[], &["A(1)/r", "A(2)/"]);
    }

    #[test]
    fn a_result_without_arguments_is_no_wildcard() {
        check(&["s A(1)/r t"], &["a A/r b"], &[], &[]);
    }

    #[test]
    fn some_of_the_arguments_are_not_enough() {
        check(&["s A(1,'x') t"], &["a A(1) b"], &[], &[]);
    }

    #[test]
    fn what_the_program_does_not_offer_is_blocked() {
        check(&["s A(1) t"], &["a A(3) b"], &[], &[]);
    }

    #[test]
    fn what_is_known_but_never_possible_is_forbidden() {
        check(
            &["s A(1) t", "s C t"],
            &["a B b"],
            &["A"],
            &["B()/", "C()/"],
        );
    }

    #[test]
    fn what_only_one_knows_interleaves() {
        check(&["s A(1) t"], &["a B b"], &[], &["B()/", "A(1)/"]);
    }

    #[test]
    fn a_program_without_arguments_is_no_wildcard() {
        check(&["s A t"], &["a A(1) b"], &[], &[]);
    }

    #[test]
    fn every_edge_that_fits_is_followed() {
        let mut words = Machine::words();
        let fork = ["a A/x b", "a A/x c", "a A/y d"];
        let fork = Machine::scenario(&mut words, "fork", &fork);
        let plain = Machine::scenario(&mut words, "plain", &["p B p"]);
        let mut product = Product::new(words, vec![Box::new(fork), Box::new(plain)]);
        let start = product.start(0).unwrap().unwrap();
        let moves = product.moves(&start, Phase::Usual).unwrap();
        let targets: Vec<u32> = moves.iter().map(|one| one.to[0].0).collect();
        assert_eq!(targets, [1, 2, 3, 0]);
    }

    #[test]
    fn the_result_is_what_the_program_says() {
        let mut words = Machine::words();
        let program = Machine::program(&mut words, "program", &["s A(1)/r t"]);
        let open = Machine::scenario(&mut words, "open", &["a A b"]);
        let name = words.name("A");
        for scenario_first in [true, false] {
            let models: Vec<Box<dyn Model>> = if scenario_first {
                vec![Box::new(open.clone()), Box::new(program.clone())]
            } else {
                vec![Box::new(program.clone()), Box::new(open.clone())]
            };
            let mut product = Product::new(words.clone(), models);
            let start = product.start(0).unwrap().unwrap();
            let one = product.moves(&start, Phase::Usual).unwrap().remove(0);
            assert!(product.allows(&start, name, one.label.arguments).unwrap());
            let done = product.perform(&start, name, one.label.arguments).unwrap();
            assert_eq!(done, [one]);
        }
    }

    #[test]
    fn what_nobody_knows_is_not_allowed() {
        let mut words = Machine::words();
        let one = Machine::program(&mut words, "one", &["s A t"]);
        let unknown = words.name("B");
        let mut product = Product::new(words, vec![Box::new(one)]);
        let start = product.start(0).unwrap().unwrap();
        assert!(!product.allows(&start, unknown, ValueId::EMPTY).unwrap());
    }
}
