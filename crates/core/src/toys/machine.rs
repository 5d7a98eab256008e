//! Small models for tests of products.

use crate::product::{
    BlockReason, Interner, Model, ModelError, ModelState, ModelStep, NameId, Phase, StepLabel,
    ValueId, ValueText,
};

/// A model in a minimal notation: lines such as `off on lit`, each with a state, an action, and the
/// state after it. An action may have arguments and a result, `off on(3)/bright lit`, without
/// blanks in them. A run begins in the first state, and every state is accepting and safe.
#[derive(Clone, Debug)]
pub struct ToyMachine {
    name: String,
    states: Vec<String>,
    edges: Vec<(ModelState, ModelStep)>,
    vocabulary: Vec<NameId>,
    is_scenario: bool,
}

impl ToyMachine {
    /// Creates the interner for a product of machines: values are their texts.
    pub fn interner() -> Interner {
        let text = |text: &str| (key(text), ValueText::literal(text));
        Interner::new(text(""), text("()"))
    }

    /// Creates a program: arguments and results are exact.
    pub fn program(interner: &mut Interner, name: &str, lines: &[&str]) -> ToyMachine {
        let mut machine = ToyMachine {
            name: name.to_owned(),
            states: Vec::new(),
            edges: Vec::new(),
            vocabulary: Vec::new(),
            is_scenario: false,
        };
        for line in lines {
            let mut parts = line.split(' ');
            let (Some(from), Some(action), Some(to)) = (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            let label = label(interner, action);
            let from = machine.intern_state(from);
            let to = machine.intern_state(to);
            machine.edges.push((from, ModelStep { label, to }));
            if !machine.vocabulary.contains(&label.name) {
                machine.vocabulary.push(label.name);
            }
        }
        machine
    }

    /// Creates a scenario: a step without arguments and result stands for any.
    pub fn scenario(interner: &mut Interner, name: &str, lines: &[&str]) -> ToyMachine {
        ToyMachine {
            is_scenario: true,
            ..ToyMachine::program(interner, name, lines)
        }
    }

    /// Adds actions that are never possible, so that a product forbids them.
    pub fn with_forbidden(mut self, interner: &mut Interner, names: &[&str]) -> ToyMachine {
        self.vocabulary
            .extend(names.iter().map(|name| interner.intern_name(name)));
        self
    }

    /// Returns the number of a state, which may be new.
    fn intern_state(&mut self, state: &str) -> ModelState {
        let known = self.states.iter().position(|known| known == state);
        let number = known.unwrap_or_else(|| {
            self.states.push(state.to_owned());
            self.states.len() - 1
        });
        ModelState(number as u32)
    }

    /// Returns the steps of a state.
    fn steps_from(&self, state: ModelState) -> impl Iterator<Item = ModelStep> + '_ {
        let edges = self.edges.iter().filter(move |(from, _)| *from == state);
        edges.map(|(_, one)| *one)
    }
}

/// Parses a label such as `on(3)/bright`.
fn label(interner: &mut Interner, text: &str) -> StepLabel {
    let (text, result) = text.split_once('/').unwrap_or((text, ""));
    let name = text.split('(').next().unwrap_or(text);
    let arguments = match &text[name.len()..] {
        "" => "()",
        given => given,
    };
    StepLabel {
        name: interner.intern_name(name),
        arguments: interner.intern_value(key(arguments), || ValueText::literal(arguments)),
        result: interner.intern_value(key(result), || ValueText::literal(result)),
    }
}

/// Returns a key for a value. Texts of up to sixteen bytes are their own keys, which suffices for
/// toys.
fn key(text: &str) -> u128 {
    text.bytes()
        .fold(0, |key, byte| key << 8 | u128::from(byte))
}

impl Model for ToyMachine {
    fn name(&self) -> &str {
        &self.name
    }

    fn vocabulary(&self) -> &[NameId] {
        &self.vocabulary
    }

    fn is_scenario(&self) -> bool {
        self.is_scenario
    }

    fn start(&mut self, _run: usize) -> Result<Option<ModelState>, ModelError> {
        Ok(Some(ModelState(0)))
    }

    fn possible_steps(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        _phase: Phase,
        _offers: &[StepLabel],
    ) -> Result<Vec<ModelStep>, ModelError> {
        Ok(self.steps_from(from).collect())
    }

    fn block_reason(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<BlockReason>, ModelError> {
        let is_allowed = !self.perform(interner, from, name, arguments)?.is_empty();
        Ok((!is_allowed).then(|| BlockReason::Scenario {
            state: self.text(from),
            allowed_steps: self.steps_from(from).map(|one| one.label).collect(),
        }))
    }

    fn block_reasons(
        &mut self,
        _interner: &mut Interner,
        _from: ModelState,
        _offers: &[StepLabel],
    ) -> Result<Vec<(NameId, ValueId, BlockReason)>, ModelError> {
        Ok(Vec::new())
    }

    fn perform(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<ModelStep>, ModelError> {
        let fits = |one: &ModelStep| {
            let given = one.label.arguments;
            one.label.name == name
                && (given == arguments || self.is_scenario && given == ValueId::EMPTY)
        };
        Ok(self.steps_from(from).filter(fits).collect())
    }

    fn is_accepting(&self, _state: ModelState) -> bool {
        true
    }

    fn is_safe(&self, _state: ModelState) -> bool {
        true
    }

    fn text(&self, state: ModelState) -> String {
        self.states[state.0 as usize].clone()
    }
}
