use crate::product::{
    Label, Model, Move, NameId, Phase, Place, Refusal, Trouble, ValueId, ValueText, Words,
};

/// A model in as few words as possible: lines such as `off on lit`, each a state, what is done there, and the state
/// after it. An action may have arguments and a result, `off on(3)/bright lit`, without blanks in them. The first state
/// is where a run begins, and every state is accepting and safe.
#[derive(Clone, Debug)]
pub struct Machine {
    name: String,
    states: Vec<String>,
    edges: Vec<(Place, Move)>,
    vocabulary: Vec<NameId>,
    is_scenario: bool,
}

impl Machine {
    /// The words of a product of machines: values are their texts.
    pub fn words() -> Words {
        let text = |text: &str| (key(text), ValueText::literal(text));
        Words::new(text(""), text("()"))
    }

    /// A model that means what it says.
    pub fn program(words: &mut Words, name: &str, lines: &[&str]) -> Machine {
        let mut machine = Machine {
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
            let label = label(words, action);
            let from = machine.place(from);
            let to = machine.place(to);
            machine.edges.push((from, Move { label, to }));
            if !machine.vocabulary.contains(&label.name) {
                machine.vocabulary.push(label.name);
            }
        }
        machine
    }

    /// A model that leaves arguments and results open where it names none.
    pub fn scenario(words: &mut Words, name: &str, lines: &[&str]) -> Machine {
        Machine {
            is_scenario: true,
            ..Machine::program(words, name, lines)
        }
    }

    /// The same, and it also knows these actions, which are never possible.
    pub fn forbidding(mut self, words: &mut Words, names: &[&str]) -> Machine {
        self.vocabulary
            .extend(names.iter().map(|name| words.name(name)));
        self
    }

    fn place(&mut self, state: &str) -> Place {
        let known = self.states.iter().position(|known| known == state);
        let number = known.unwrap_or_else(|| {
            self.states.push(state.to_owned());
            self.states.len() - 1
        });
        Place(number as u32)
    }

    fn from(&self, place: Place) -> impl Iterator<Item = Move> + '_ {
        let here = self.edges.iter().filter(move |(from, _)| *from == place);
        here.map(|(_, one)| *one)
    }
}

/// The label that a text such as `on(3)/bright` stands for.
fn label(words: &mut Words, text: &str) -> Label {
    let (text, result) = text.split_once('/').unwrap_or((text, ""));
    let name = text.split('(').next().unwrap_or(text);
    let arguments = match &text[name.len()..] {
        "" => "()",
        given => given,
    };
    Label {
        name: words.name(name),
        arguments: words.value(key(arguments), || ValueText::literal(arguments)),
        result: words.value(key(result), || ValueText::literal(result)),
    }
}

/// Good enough for the few short texts of a toy: those of up to sixteen bytes are their own keys.
fn key(text: &str) -> u128 {
    text.bytes()
        .fold(0, |key, byte| key << 8 | u128::from(byte))
}

impl Model for Machine {
    fn name(&self) -> &str {
        &self.name
    }

    fn vocabulary(&self) -> &[NameId] {
        &self.vocabulary
    }

    fn is_scenario(&self) -> bool {
        self.is_scenario
    }

    fn start(&mut self, _run: usize) -> Result<Option<Place>, Trouble> {
        Ok(Some(Place(0)))
    }

    fn moves(
        &mut self,
        _words: &mut Words,
        from: Place,
        _phase: Phase,
        _offers: &[Label],
    ) -> Result<Vec<Move>, Trouble> {
        Ok(self.from(from).collect())
    }

    fn refusal(
        &mut self,
        words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<Refusal>, Trouble> {
        let is_allowed = !self.perform(words, from, name, arguments)?.is_empty();
        Ok((!is_allowed).then(|| Refusal::Scenario {
            state: self.text(from),
            instead: self.from(from).map(|one| one.label).collect(),
        }))
    }

    fn refusals(
        &mut self,
        _words: &mut Words,
        _from: Place,
        _offers: &[Label],
    ) -> Result<Vec<(NameId, ValueId, Refusal)>, Trouble> {
        Ok(Vec::new())
    }

    fn perform(
        &mut self,
        _words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<Move>, Trouble> {
        let fits = |one: &Move| {
            let given = one.label.arguments;
            one.label.name == name
                && (given == arguments || self.is_scenario && given == ValueId::EMPTY)
        };
        Ok(self.from(from).filter(fits).collect())
    }

    fn is_accepting(&self, _place: Place) -> bool {
        true
    }

    fn is_safe(&self, _place: Place) -> bool {
        true
    }

    fn text(&self, place: Place) -> String {
        self.states[place.0 as usize].clone()
    }
}
