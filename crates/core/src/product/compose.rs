//! The composition of models.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use crate::verdict::Caveat;

use super::{
    BlockReason, Interner, Model, ModelError, ModelState, ModelStep, NameId, Phase, StepLabel,
    ValueId,
};

/// Models composed on their shared actions.
///
/// A step is possible if it is possible in some model, and every model that has its action allows
/// it: a program with exactly the same arguments and result, a scenario also with a wildcard
/// ([`StepLabel::is_wildcard`]). A state consists of one state of each model; it is accepting, or
/// safe, if each of them is.
pub struct Product<'m> {
    interner: Interner,
    models: Vec<Box<dyn Model + 'm>>,
    /// The order in which models are queried. Scenarios come first, since their offers decide what
    /// may be observed; otherwise the author's order.
    query_order: Vec<usize>,
    /// By action: the models that have it.
    owners: Vec<Vec<usize>>,
    vocabulary: Vec<NameId>,
    /// The actions that the models have, and the user left out.
    left_out: Vec<String>,
}

/// A step of a product, and the state it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointStep {
    /// The label of the step.
    pub label: StepLabel,
    /// The state after it.
    pub to: Vec<ModelState>,
}

/// An action that is not possible, and the models that block it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedAction {
    /// The action.
    pub name: NameId,
    /// Its arguments.
    pub arguments: ValueId,
    /// The models, by index, and their reasons.
    pub reasons: Vec<(usize, BlockReason)>,
}

impl<'m> Product<'m> {
    /// Composes models, in the order in which the user named them.
    pub fn new(interner: Interner, models: Vec<Box<dyn Model + 'm>>) -> Product<'m> {
        let mut product = Product {
            interner,
            models: Vec::new(),
            query_order: Vec::new(),
            owners: Vec::new(),
            vocabulary: Vec::new(),
            left_out: Vec::new(),
        };
        models.into_iter().for_each(|model| product.add(model));
        product
    }

    /// Adds a model to the product.
    pub fn add(&mut self, model: Box<dyn Model + 'm>) {
        let number = self.models.len();
        for name in model.vocabulary() {
            let index = name.0 as usize;
            if index >= self.owners.len() {
                self.owners.resize(index + 1, Vec::new());
            }
            let owners = &mut self.owners[index];
            if owners.is_empty() {
                self.vocabulary.push(*name);
            }
            if owners.last() != Some(&number) {
                owners.push(number);
            }
        }
        self.models.push(model);
        let models = &self.models;
        self.query_order.push(number);
        self.query_order
            .sort_by_key(|model| !models[*model].is_scenario());
    }

    /// Notes the actions that the models have, and the user left out.
    pub fn set_left_out(&mut self, actions: Vec<String>) {
        self.left_out = actions;
    }

    /// Returns the interner of names and values.
    pub fn interner(&self) -> &Interner {
        &self.interner
    }

    /// Returns the interner, to add names and values.
    pub fn interner_mut(&mut self) -> &mut Interner {
        &mut self.interner
    }

    /// Returns the models, in the order in which the user named them.
    pub fn models(&self) -> &[Box<dyn Model + 'm>] {
        &self.models
    }

    /// Returns the actions of all models, in order of first occurrence.
    pub fn vocabulary(&self) -> &[NameId] {
        &self.vocabulary
    }

    /// Encodes a state for a copy of the product in another process: one part per model. `None` if
    /// a model cannot encode its state.
    pub fn export(&self, state: &[ModelState]) -> Option<Vec<Vec<u8>>> {
        let each = self.models.iter().zip(state);
        each.map(|(model, state)| model.export(*state)).collect()
    }

    /// Decodes a state that a copy of the product in another process encoded.
    pub fn import(&mut self, state: &[&[u8]]) -> Option<Vec<ModelState>> {
        let each = self.models.iter_mut().zip(state);
        each.map(|(model, part)| model.import(part)).collect()
    }

    /// Returns true if a model has a fixed number of runs, so that the product has, too.
    pub fn has_suite(&self) -> bool {
        self.models.iter().any(|model| model.is_suite())
    }

    /// Returns true if a suite is the only model of an action, so that the results of other runs are
    /// unknown.
    pub fn has_action_of_suite_only(&self) -> bool {
        let is_suite = |owner: &usize| self.models[*owner].is_suite();
        let mut names = self.vocabulary.iter();
        names.any(|name| self.owners(*name).iter().all(is_suite))
    }

    /// Lets runs of suites leave out steps from now on.
    pub fn allow_gaps(&mut self) {
        self.models.iter_mut().for_each(|model| model.allow_gaps());
    }

    /// Returns the number of runs, if a model has a fixed number of them.
    pub fn runs(&self) -> Option<usize> {
        self.models.iter().filter_map(|model| model.runs()).min()
    }

    /// Returns the name of the first model that cannot start another run.
    pub fn unresettable_model(&self) -> Option<&str> {
        let model = self.models.iter().find(|model| !model.can_reset())?;
        Some(model.name())
    }

    /// Returns the models that have an action.
    fn owners(&self, name: NameId) -> &[usize] {
        self.owners.get(name.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns true if a model has this action.
    pub fn has_action(&self, name: NameId) -> bool {
        !self.owners(name).is_empty()
    }

    /// Starts a run and returns its initial state; `None` if there is no such run.
    pub fn start(&mut self, run: usize) -> Result<Option<Vec<ModelState>>, ModelError> {
        self.start_all(|model| model.start(run))
    }

    /// Returns the initial state of a run without running the models' reset code.
    pub fn initial_state(&mut self, run: usize) -> Result<Option<Vec<ModelState>>, ModelError> {
        self.start_all(|model| model.initial_state(run))
    }

    /// Starts a run in each model, scenarios first.
    fn start_all(
        &mut self,
        start: impl Fn(&mut dyn Model) -> Result<Option<ModelState>, ModelError>,
    ) -> Result<Option<Vec<ModelState>>, ModelError> {
        // A suite without more runs must report that before other models are reset.
        let mut states = vec![None; self.models.len()];
        for number in &self.query_order {
            states[*number] = start(self.models[*number].as_mut())?;
            if states[*number].is_none() {
                return Ok(None);
            }
        }
        Ok(states.into_iter().collect())
    }

    /// Tries observable actions from now on, too, as far as their arguments are known
    /// ([`Model::try_observables`]).
    pub fn try_observables(&mut self) {
        self.models
            .iter_mut()
            .for_each(|model| model.try_observables());
    }

    /// Returns true if an action is one that a model only observes.
    pub fn is_observable(&self, name: NameId) -> bool {
        let owners = self.owners(name).iter();
        owners
            .map(|owner| &self.models[*owner])
            .any(|model| model.is_observable(name))
    }

    /// Returns false if no observable action may happen in a state, with any arguments.
    pub fn may_observe(&mut self, from: &[ModelState]) -> Result<bool, ModelError> {
        for (number, state) in from.iter().enumerate() {
            let model = &mut self.models[number];
            if model.may_observe(*state)? {
                return Ok(true);
            }
            if !model.is_scenario() {
                continue;
            }
            // Only a program says which actions are observed. Without one, all may be.
            let steps = model.possible_steps(&mut self.interner, *state, Phase::Normal, &[])?;
            let is_open = |step: &ModelStep| {
                let mut owners = self.owners(step.label.name).iter();
                owners.all(|owner| self.models[*owner].is_scenario())
            };
            if steps.iter().any(is_open) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Puts the live states of the models into this state.
    pub fn enter_state(&mut self, state: &[ModelState]) -> Result<(), ModelError> {
        let mut models = self.models.iter_mut().zip(state);
        models.try_for_each(|(model, state)| model.enter_state(*state))
    }

    /// Returns true if a model tries an action with the same arguments in every state.
    pub fn has_fixed_arguments(&self, name: NameId) -> bool {
        let owners = self.owners(name).iter();
        owners
            .map(|owner| &self.models[*owner])
            .any(|model| model.has_fixed_arguments(name))
    }

    /// Returns what the steps computed so far do not cover: observable actions whose arguments no
    /// model lists, actions that were left out, and what the models noticed.
    pub fn caveats(&self) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        for model in &self.models {
            let open = model.observables_without_values().into_iter();
            let open = open.filter(|name| {
                let mut owners = self.owners(*name).iter();
                !owners.any(|owner| self.models[*owner].lists_arguments(*name))
            });
            caveats.extend(open.map(|name| Caveat::UnexploredObservable {
                action: self.interner.name_text(name).to_owned(),
            }));
            caveats.extend(model.notices().caveats);
        }
        if !self.left_out.is_empty() {
            caveats.push(Caveat::LeftOutActions {
                actions: self.left_out.clone(),
            });
        }
        caveats
    }

    /// Encodes what the models noticed since the last call, one part per model.
    pub fn export_notices(&mut self) -> Vec<Vec<u8>> {
        let models = self.models.iter_mut();
        models.map(|model| model.export_notices()).collect()
    }

    /// Adds what copies of the models in another process noticed.
    pub fn import_notices(&mut self, notices: &[&[u8]]) {
        for (model, notices) in self.models.iter_mut().zip(notices) {
            model.import_notices(notices);
        }
    }

    /// Makes the models release their current states ([`Model::release_state`]).
    pub fn release_states(&mut self) {
        self.models
            .iter_mut()
            .for_each(|model| model.release_state());
    }

    /// Returns the possible steps in a state, each once.
    pub fn possible_steps(
        &mut self,
        from: &[ModelState],
        phase: Phase,
    ) -> Result<Vec<JointStep>, ModelError> {
        if let [model] = self.models.as_mut_slice() {
            let moves = without_duplicates(model.possible_steps(
                &mut self.interner,
                from[0],
                phase,
                &[],
            )?);
            let joint_step = |one: ModelStep| JointStep {
                label: one.label,
                to: vec![one.to],
            };
            return Ok(moves.into_iter().map(joint_step).collect());
        }
        let mut possible: Vec<Vec<ModelStep>> = vec![Vec::new(); self.models.len()];
        let mut offers = Vec::new();
        for number in &self.query_order {
            let model = &mut self.models[*number];
            let moves = model.possible_steps(&mut self.interner, from[*number], phase, &offers)?;
            if model.is_scenario() {
                offers.extend(moves.iter().map(|one| one.label));
            }
            possible[*number] = moves;
        }
        let mut seen = FxHashSet::default();
        let mut joint_steps = Vec::new();
        for number in &self.query_order {
            for one in &possible[*number] {
                if seen.insert(one.label) {
                    self.add_joint_steps(from, one.label, &possible, &mut joint_steps);
                }
            }
        }
        Ok(joint_steps)
    }

    /// Adds all combinations in which the models can take a step together.
    fn add_joint_steps(
        &self,
        from: &[ModelState],
        label: StepLabel,
        possible: &[Vec<ModelStep>],
        joint_steps: &mut Vec<JointStep>,
    ) {
        let mut combinations = vec![from.to_vec()];
        for owner in self.owners(label.name) {
            let open = self.models[*owner].is_scenario();
            let fits = |one: &&ModelStep| {
                one.label == label
                    || (open && one.label.is_wildcard() && one.label.name == label.name)
            };
            let targets = possible[*owner].iter().filter(fits).map(|one| one.to);
            let targets = without_duplicates(targets.collect());
            combinations = extend_combinations(&combinations, *owner, &targets);
        }
        joint_steps.extend(combinations.into_iter().map(|to| JointStep { label, to }));
    }

    /// Returns true if an externally chosen action may happen in a state. An unknown action may
    /// not.
    pub fn allows(
        &mut self,
        from: &[ModelState],
        name: NameId,
        arguments: ValueId,
    ) -> Result<bool, ModelError> {
        Ok(self.has_action(name) && self.block_reasons(from, name, arguments)?.is_empty())
    }

    /// Returns the models that do not allow an externally chosen action, and their reasons.
    pub fn block_reasons(
        &mut self,
        from: &[ModelState],
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<(usize, BlockReason)>, ModelError> {
        let mut all = Vec::new();
        for owner in self.owners(name).to_vec() {
            let refusal = self.models[owner].block_reason(
                &mut self.interner,
                from[owner],
                name,
                arguments,
            )?;
            all.extend(refusal.map(|refusal| (owner, refusal)));
        }
        Ok(all)
    }

    /// Explains why impossible actions are impossible in a state: for each action that a model
    /// tries or a scenario requests, the models that block it.
    pub fn explain(&mut self, from: &[ModelState]) -> Result<Vec<BlockedAction>, ModelError> {
        let mut offers = Vec::new();
        let mut possible: Vec<Vec<ModelStep>> = vec![Vec::new(); self.models.len()];
        let mut refused: Vec<Vec<(NameId, ValueId, BlockReason)>> =
            vec![Vec::new(); self.models.len()];
        for number in &self.query_order {
            let model = &mut self.models[*number];
            let interner = &mut self.interner;
            possible[*number] =
                model.possible_steps(interner, from[*number], Phase::Normal, &offers)?;
            refused[*number] = model.block_reasons(interner, from[*number], &offers)?;
            if model.is_scenario() {
                offers.extend(possible[*number].iter().map(|one| one.label));
            }
        }
        let mut blocked: Vec<BlockedAction> = Vec::new();
        for number in self.query_order.clone() {
            for one in std::mem::take(&mut refused[number]) {
                // A scenario may have requested it already.
                let (name, arguments, refusal) = one;
                let is_known =
                    |other: &BlockedAction| (other.name, other.arguments) == (name, arguments);
                if !blocked.iter().any(is_known) {
                    let by = vec![(number, refusal)];
                    blocked.push(BlockedAction {
                        name,
                        arguments,
                        reasons: by,
                    });
                }
            }
            // A wildcard is not an action itself; the actions it stands for are handled where they
            // are possible.
            let is_open = self.models[number].is_scenario();
            let own: Vec<StepLabel> = possible[number].iter().map(|one| one.label).collect();
            for label in own {
                let is_shared = self.owners(label.name).len() > 1;
                if is_shared && !(is_open && label.is_wildcard()) {
                    let by = self.other_block_reasons(from, number, label, &possible)?;
                    if !by.is_empty() {
                        blocked.push(BlockedAction {
                            name: label.name,
                            arguments: label.arguments,
                            reasons: by,
                        });
                    }
                }
            }
        }
        Ok(blocked)
    }

    /// Returns the models, other than `one`, that block a step which `one` would take, and their
    /// reasons.
    fn other_block_reasons(
        &mut self,
        from: &[ModelState],
        one: usize,
        label: StepLabel,
        possible: &[Vec<ModelStep>],
    ) -> Result<Vec<(usize, BlockReason)>, ModelError> {
        let mut by = Vec::new();
        for owner in self.owners(label.name).to_vec() {
            let model = &mut self.models[owner];
            let open = model.is_scenario();
            let allows = |other: &ModelStep| {
                other.label == label
                    || other.label.name == label.name && open && other.label.is_wildcard()
            };
            if owner == one || possible[owner].iter().any(allows) {
                continue;
            }
            let (name, arguments) = (label.name, label.arguments);
            let refusal =
                match model.block_reason(&mut self.interner, from[owner], name, arguments)? {
                    Some(refusal) => refusal,
                    None => {
                        let same = |other: &&ModelStep| {
                            (other.label.name, other.label.arguments) == (name, arguments)
                        };
                        match possible[owner].iter().find(same) {
                            Some(other) => BlockReason::Result(other.label.result),
                            None => BlockReason::Domain,
                        }
                    }
                };
            by.push((owner, refusal));
        }
        Ok(by)
    }

    /// Performs an externally chosen action and returns the resulting steps; none if the action is
    /// unknown. Where models leave the result open, there is one step per result.
    pub fn perform(
        &mut self,
        from: &[ModelState],
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<JointStep>, ModelError> {
        let mut done: Vec<(usize, Vec<ModelStep>)> = Vec::new();
        for owner in self.owners(name).to_vec() {
            let moves =
                self.models[owner].perform(&mut self.interner, from[owner], name, arguments)?;
            done.push((owner, moves));
        }
        if done.is_empty() {
            return Ok(Vec::new());
        }
        let results = self.proposed_results(&done);
        let mut joint_steps = Vec::new();
        for result in &results {
            joint_steps.extend(self.combine_performed(from, name, arguments, *result, &done, true));
        }
        // An observed action has happened, even if the models disagree on its result.
        if let (true, Some(result)) = (joint_steps.is_empty(), results.first()) {
            joint_steps = self.combine_performed(from, name, arguments, *result, &done, false);
        }
        Ok(joint_steps)
    }

    /// Returns the results that the models propose. A program computes the result; a scenario at
    /// most states the expected one.
    fn proposed_results(&self, done: &[(usize, Vec<ModelStep>)]) -> Vec<ValueId> {
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

    /// Combines the steps of all models for an action with this result. A model that does not
    /// propose the result contributes all its steps, unless all models have to agree.
    fn combine_performed(
        &self,
        from: &[ModelState],
        name: NameId,
        arguments: ValueId,
        result: ValueId,
        done: &[(usize, Vec<ModelStep>)],
        all_agree: bool,
    ) -> Vec<JointStep> {
        let mut combinations = vec![from.to_vec()];
        for (owner, moves) in done {
            let agrees = |one: &ModelStep| one.label.result == result || one.label.is_wildcard();
            let any = !all_agree && !moves.iter().any(agrees);
            let fitting = moves.iter().filter(|one| any || agrees(one));
            let targets = without_duplicates(fitting.map(|one| one.to).collect());
            combinations = extend_combinations(&combinations, *owner, &targets);
        }
        let label = StepLabel {
            name,
            arguments,
            result,
        };
        combinations
            .into_iter()
            .map(|to| JointStep { label, to })
            .collect()
    }

    /// Returns true if a run may end in a state.
    pub fn is_accepting(&self, state: &[ModelState]) -> bool {
        let mut each = self.models.iter().zip(state);
        each.all(|(model, state)| model.is_accepting(*state))
    }

    /// Returns true if all invariants hold in a state.
    pub fn is_safe(&self, state: &[ModelState]) -> bool {
        let mut each = self.models.iter().zip(state);
        each.all(|(model, state)| model.is_safe(*state))
    }
}

/// Removes duplicates and keeps the order.
fn without_duplicates<T: Copy + Eq + Hash>(mut all: Vec<T>) -> Vec<T> {
    if all.len() > SMALL_LIST {
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

/// The largest list that is faster to compare element by element.
const SMALL_LIST: usize = 8;

/// Extends each combination with each target state of one model.
fn extend_combinations(
    combinations: &[Vec<ModelState>],
    owner: usize,
    targets: &[ModelState],
) -> Vec<Vec<ModelState>> {
    let mut extended = Vec::with_capacity(combinations.len() * targets.len());
    for combination in combinations {
        for target in targets {
            let mut combination = combination.clone();
            combination[owner] = *target;
            extended.push(combination);
        }
    }
    extended
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys::ToyMachine;

    /// Checks the first steps of the product of a program and a scenario.
    fn check(program: &[&str], scenario: &[&str], forbidden: &[&str], expected: &[&str]) {
        let mut interner = ToyMachine::interner();
        let program = ToyMachine::program(&mut interner, "program", program);
        let scenario = ToyMachine::scenario(&mut interner, "scenario", scenario);
        let scenario = scenario.with_forbidden(&mut interner, forbidden);
        let mut product = Product::new(interner, vec![Box::new(program), Box::new(scenario)]);
        let start = product.start(0).unwrap().unwrap();
        let moves = product.possible_steps(&start, Phase::Normal).unwrap();
        let interner = product.interner();
        let text = |value: ValueId| &interner.value_text(value).literal;
        let shown: Vec<String> = moves
            .iter()
            .map(|one| {
                let label = one.label;
                let name = interner.name_text(label.name);
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
    fn actions_outside_of_the_program_are_blocked() {
        check(&["s A(1) t"], &["a A(3) b"], &[], &[]);
    }

    #[test]
    fn declared_but_impossible_actions_are_forbidden() {
        check(
            &["s A(1) t", "s C t"],
            &["a B b"],
            &["A"],
            &["B()/", "C()/"],
        );
    }

    #[test]
    fn actions_of_a_single_model_interleave() {
        check(&["s A(1) t"], &["a B b"], &[], &["B()/", "A(1)/"]);
    }

    #[test]
    fn a_program_without_arguments_is_no_wildcard() {
        check(&["s A t"], &["a A(1) b"], &[], &[]);
    }

    #[test]
    fn every_edge_that_fits_is_followed() {
        let mut interner = ToyMachine::interner();
        let fork = ["a A/x b", "a A/x c", "a A/y d"];
        let fork = ToyMachine::scenario(&mut interner, "fork", &fork);
        let plain = ToyMachine::scenario(&mut interner, "plain", &["p B p"]);
        let mut product = Product::new(interner, vec![Box::new(fork), Box::new(plain)]);
        let start = product.start(0).unwrap().unwrap();
        let moves = product.possible_steps(&start, Phase::Normal).unwrap();
        let targets: Vec<u32> = moves.iter().map(|one| one.to[0].0).collect();
        assert_eq!(targets, [1, 2, 3, 0]);
    }

    #[test]
    fn the_result_comes_from_the_program() {
        let mut interner = ToyMachine::interner();
        let program = ToyMachine::program(&mut interner, "program", &["s A(1)/r t"]);
        let open = ToyMachine::scenario(&mut interner, "open", &["a A b"]);
        let name = interner.intern_name("A");
        for scenario_first in [true, false] {
            let models: Vec<Box<dyn Model>> = if scenario_first {
                vec![Box::new(open.clone()), Box::new(program.clone())]
            } else {
                vec![Box::new(program.clone()), Box::new(open.clone())]
            };
            let mut product = Product::new(interner.clone(), models);
            let start = product.start(0).unwrap().unwrap();
            let one = product
                .possible_steps(&start, Phase::Normal)
                .unwrap()
                .remove(0);
            assert!(product.allows(&start, name, one.label.arguments).unwrap());
            let done = product.perform(&start, name, one.label.arguments).unwrap();
            assert_eq!(done, [one]);
        }
    }

    #[test]
    fn unknown_actions_are_not_allowed() {
        let mut interner = ToyMachine::interner();
        let one = ToyMachine::program(&mut interner, "one", &["s A t"]);
        let unknown = interner.intern_name("B");
        let mut product = Product::new(interner, vec![Box::new(one)]);
        let start = product.start(0).unwrap().unwrap();
        assert!(!product.allows(&start, unknown, ValueId::EMPTY).unwrap());
    }
}
