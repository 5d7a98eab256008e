//! Runs that fail, made short: also where an implementation does not do the same each time.

use std::collections::VecDeque;

use testwright_core::product::{Joint, Label, NameId, Phase, Product, Trouble, ValueId, Words};
use testwright_core::toys::Machine;
use testwright_model::{Implementation, Replayed, Script, Short, Suite, make_ready, shorten};

/// A door with a lock for two keys, and a bell that the door rings by itself.
fn door() -> Product<'static> {
    let mut words = Machine::words();
    let lines = [
        "closed open opened",
        "opened close closed",
        "closed lock(1) locked",
        "closed lock(2) locked",
        "locked unlock closed",
        "locked ring locked",
    ];
    let door = Machine::program(&mut words, "door", &lines);
    Product::new(words, vec![Box::new(door)])
}

/// A real door. What goes wrong with it depends on how often something was done to it before.
struct Real {
    /// Its lock jams each so many times when the second key is used.
    jams_each: usize,
    locked: usize,
    /// It rings after it was opened each so many times, which no model allows.
    rings_each: Option<usize>,
    opened: usize,
    rings: VecDeque<()>,
}

impl Real {
    fn jamming(each: usize) -> Real {
        Real {
            jams_each: each,
            locked: 0,
            rings_each: None,
            opened: 0,
            rings: VecDeque::new(),
        }
    }

    fn ringing(each: usize) -> Real {
        Real {
            rings_each: Some(each),
            ..Real::jamming(usize::MAX)
        }
    }
}

impl Implementation for Real {
    fn act(&mut self, words: &Words, label: Label) -> Result<Option<String>, Trouble> {
        let arguments = words.value_text(label.arguments).plain();
        match words.name_text(label.name) {
            "lock" if arguments == "(2)" => {
                self.locked += 1;
                let jams = self.locked.is_multiple_of(self.jams_each);
                Ok(jams.then(|| format!("it jams at lock {}", self.locked)))
            }
            "open" => {
                self.opened += 1;
                if self
                    .rings_each
                    .is_some_and(|each| self.opened.is_multiple_of(each))
                {
                    self.rings.push_back(());
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn reset(&mut self) -> Result<(), Trouble> {
        Ok(())
    }

    fn observed(&mut self, words: &mut Words) -> Result<Option<(NameId, ValueId)>, Trouble> {
        let ring = self.rings.pop_front();
        Ok(ring.map(|()| (words.name("ring"), ValueId::EMPTY)))
    }

    fn wait(&mut self) -> Result<Option<bool>, Trouble> {
        Ok(self.rings_each.map(|_| !self.rings.is_empty()))
    }

    fn forget(&mut self) -> Result<usize, Trouble> {
        Ok(self.rings.drain(..).count())
    }

    fn is_asynchronous(&self) -> bool {
        self.rings_each.is_some()
    }
}

/// A run as a text, such as `open close lock(1)`.
fn script(product: &mut Product<'_>, text: &str) -> Script {
    let mut steps = Vec::new();
    let mut state = product.begin(0).unwrap().unwrap();
    for step in text.split(' ') {
        let moves = product.moves(&state, Phase::Usual).unwrap();
        let is_it = |one: &&Joint| shown(product, &(one.label.name, one.label.arguments)) == step;
        let one = moves.iter().find(is_it).unwrap();
        steps.push((one.label.name, one.label.arguments));
        state = one.to.clone();
    }
    Script {
        run: 0,
        steps,
        check: true,
    }
}

fn shown(product: &Product<'_>, (name, arguments): &(NameId, ValueId)) -> String {
    let words = product.words();
    let arguments = words.value_text(*arguments).plain();
    format!("{}{arguments}", words.name_text(*name)).replace("()", "")
}

/// Plays a run until it fails, and makes it short.
fn shortened(real: &mut Real, text: &str) -> (Option<Short>, String) {
    let mut product = door();
    let script = script(&mut product, text);
    let mut failure = None;
    for _ in 0..100 {
        make_ready(real).unwrap();
        failure = script.play(&mut product, real).unwrap().failure;
        if failure.is_some() {
            break;
        }
    }
    let failure = failure.unwrap();
    let short = shorten(&mut product, real, &script, &failure, &mut || true).unwrap();
    let steps = short.iter().flat_map(|short| &short.steps);
    let text: Vec<String> = steps.map(|step| shown(&product, step)).collect();
    (short, text.join(" "))
}

const LONG: &str = "open close lock(1) unlock open close lock(2) unlock open close lock(1)";

#[test]
fn what_fails_each_time_is_played_a_few_times() {
    let (short, text) = shortened(&mut Real::jamming(1), LONG);
    let short = short.unwrap();
    assert_eq!(text, "lock(2)");
    assert_eq!(short.odds, None);
    assert!(short.plays < 20, "{}", short.plays);
    assert!(short.failure.message.starts_with("it jams at lock "));
    assert_eq!(short.replayed.steps.len(), 1);
}

#[test]
fn what_fails_now_and_then_is_made_as_short() {
    for each in 2..5 {
        let (short, text) = shortened(&mut Real::jamming(each), LONG);
        let (failed, tries) = short.unwrap().odds.unwrap();
        assert_eq!(text, "lock(2)", "each {each}");
        assert_eq!(tries, 10);
        assert!((10 / each..=10 / each + 1).contains(&failed), "{failed}");
    }
}

#[test]
fn what_does_not_fail_again_is_none() {
    let (short, _) = shortened(&mut Real::jamming(50), LONG);
    assert_eq!(short, None);
}

#[test]
fn what_an_implementation_does_by_itself_is_made_short_as_well() {
    for each in [1, 3] {
        let (short, text) = shortened(&mut Real::ringing(each), LONG);
        let short = short.unwrap();
        assert_eq!(text, "open", "each {each}");
        assert_eq!(short.failure.message, "ring(), action not enabled");
        assert_eq!(short.odds.is_some(), each > 1);
    }
}

#[test]
fn a_step_that_is_not_possible_is_left_out_and_told() {
    let mut product = door();
    let whole = script(&mut product, "open close lock(1) unlock");
    let script = Script {
        steps: vec![whole.steps[0], whole.steps[2], whole.steps[1]],
        ..whole.clone()
    };
    let replayed = script.play(&mut product, &mut Real::jamming(1)).unwrap();
    assert_eq!(replayed.left_out, Some(whole.steps[2]));
    assert_eq!(replayed.steps.len(), 2);
    assert_eq!(replayed.failure, None);
}

#[test]
fn a_run_that_is_not_there_has_no_steps() {
    let mut words = Machine::words();
    let name = words.name("go");
    let go = Label {
        name,
        arguments: ValueId::EMPTY,
        result: ValueId::NONE,
    };
    let suite = Suite::new("suite", vec![vec![go]]);
    let mut product = Product::new(words, vec![Box::new(suite)]);
    let mut script = Script {
        run: 0,
        steps: vec![(name, ValueId::EMPTY)],
        check: true,
    };
    let played = script.play(&mut product, &mut Real::jamming(1)).unwrap();
    assert_eq!(played.steps, [(go, false)]);
    script.run = 1;
    let played = script.play(&mut product, &mut Real::jamming(1)).unwrap();
    assert_eq!(played, Replayed::default());
}
