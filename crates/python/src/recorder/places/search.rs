//! Finding the places that a unit can reach.

use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyCode, PyDict, PyFunction, PyModule, PyString, PyTuple, PyType};
use rustc_hash::{FxHashMap, FxHashSet};
use testwright_capture::{Place, Reference};

use super::super::scope::Scoped;
use super::super::{identity, names};
use super::{Found, Lookup, Owner, Plan, Reached, is_data};

/// How far functions are followed.
const DEEPEST: u32 = 3;
/// How many places are looked at.
const MOST_PLACES: usize = 60;

/// Whoever mentions one of these may ask for the words of the command.
const ASKS_COMMAND: [&str; 3] = ["argv", "parse_args", "parse_known_args"];

struct Search<'a, 'py> {
    scoped: &'a mut Scoped,
    seen: FxHashSet<usize>,
    known: FxHashSet<Place>,
    looked_up: FxHashSet<(usize, usize)>,
    numbers: FxHashMap<usize, usize>,
    namespaces: Vec<Bound<'py, PyDict>>,
    plan: Plan,
}

/// What a code object can reach that runs with these globals, on a receiver of this class. The namespaces are those of
/// the plan.
pub(super) fn plan<'py>(
    code: &Bound<'py, PyCode>,
    globals: &Bound<'py, PyDict>,
    receiver: Option<&Bound<'py, PyType>>,
    scoped: &mut Scoped,
) -> (Plan, Vec<Bound<'py, PyDict>>) {
    let mut search = Search {
        scoped,
        seen: FxHashSet::default(),
        known: FxHashSet::default(),
        looked_up: FxHashSet::default(),
        numbers: FxHashMap::default(),
        namespaces: Vec::new(),
        plan: Plan::default(),
    };
    // Another class may come to lie where this one is.
    if let Some(class) = receiver
        && let Some(namespace) = names::namespace(class)
    {
        search.number(&namespace, Some(class.as_any()));
    }
    search.follow(code, globals, receiver, 0);
    (search.plan, search.namespaces)
}

impl<'py> Search<'_, 'py> {
    /// The number of a namespace. Its owner is what has to be alive for it to be there.
    fn number(
        &mut self,
        namespace: &Bound<'py, PyDict>,
        owner: Option<&Bound<'py, PyAny>>,
    ) -> usize {
        let address = namespace.as_ptr() as usize;
        if let Some(number) = self.numbers.get(&address) {
            return *number;
        }
        let number = self.namespaces.len();
        self.numbers.insert(address, number);
        self.namespaces.push(namespace.clone());
        let reference = owner.and_then(identity::weak_reference);
        self.plan.owners.push(reference.map(|reference| Owner {
            reference,
            namespace: address,
        }));
        number
    }

    /// The number of the namespace of a module.
    fn number_of_globals(&mut self, globals: &Bound<'py, PyDict>, module: &str) -> usize {
        let found = names::found(globals.py(), &Reference::new(module, ""));
        let owner = found.filter(|found| {
            names::module_namespace(found).is_some_and(|namespace| namespace.is(globals))
        });
        self.number(globals, owner.as_ref())
    }

    /// What a name leads to.
    fn entry(
        &mut self,
        namespace: usize,
        name: &Bound<'py, PyString>,
    ) -> Option<Bound<'py, PyAny>> {
        let value = names::entry_at(&self.namespaces[namespace], name.as_unbound());
        if self.looked_up.insert((namespace, name.as_ptr() as usize)) {
            self.plan.lookups.push(Lookup {
                namespace,
                name: name.clone().unbind(),
                found: match &value {
                    None => Found::Nothing,
                    Some(value) if is_data(value) => Found::Data(value.get_type_ptr() as usize),
                    Some(value) => Found::Definition(value.as_ptr() as usize),
                },
            });
        }
        value
    }

    fn follow(
        &mut self,
        code: &Bound<'py, PyCode>,
        globals: &Bound<'py, PyDict>,
        receiver: Option<&Bound<'py, PyType>>,
        depth: u32,
    ) {
        if depth > DEEPEST || !self.seen.insert(code.as_ptr() as usize) {
            return;
        }
        let mut mentioned = Vec::new();
        mention(code, &mut mentioned);
        let module = names::entry(globals, "__name__");
        // SAFETY: the entry is alive.
        let module = module.and_then(|name| unsafe { names::text(code.py(), name.as_ptr()) });
        let Some(module) = module else {
            return;
        };
        if mentioned
            .iter()
            .any(|(name, _)| ASKS_COMMAND.contains(&name.as_str()))
        {
            self.note_command(code.py());
        }
        let namespace = self.number_of_globals(globals, &module);
        for mention in &mentioned {
            let place = Place::Global {
                module: module.clone(),
                name: mention.0.clone(),
            };
            match self.entry(namespace, &mention.1) {
                Some(value) => self.look(place, namespace, mention, &value, &mentioned, depth),
                None => self.note_absent(place, namespace, mention, depth),
            }
        }
        for class in receiver.map(names::bases).unwrap_or_default() {
            self.look_into_class(&class, &mentioned, depth);
        }
    }

    /// The words of the command that runs the program.
    fn note_command(&mut self, python: Python<'py>) {
        let system = python.import("sys");
        let namespace = system.ok().and_then(|one| names::module_namespace(&one));
        if let Some(namespace) = namespace {
            let number = self.number_of_globals(&namespace, "sys");
            let (module, name) = ("sys".to_owned(), "argv".to_owned());
            let mention = (name.clone(), PyString::intern(python, &name));
            self.note(Place::Global { module, name }, number, &mention);
        }
    }

    /// What is attached to a function.
    fn look_into_function(
        &mut self,
        function: &Bound<'py, PyFunction>,
        mentioned: &[Mention<'py>],
    ) {
        let Some((class, namespace)) = names::attributes(function) else {
            return;
        };
        let number = self.number(&namespace, Some(function.as_any()));
        for mention in mentioned.iter().filter(|(name, _)| !name.starts_with("__")) {
            if self
                .entry(number, &mention.1)
                .is_some_and(|value| is_data(&value))
            {
                let (class, name) = (class.clone(), mention.0.clone());
                self.note(Place::ClassAttribute { class, name }, number, mention);
            }
        }
    }

    fn note_definition(
        &mut self,
        place: Place,
        namespace: usize,
        mention: &Mention<'py>,
        value: &Bound<'py, PyAny>,
    ) {
        let is_new = self.plan.definitions.len() < MOST_PLACES && !mention.0.starts_with("__");
        if is_new && self.known.insert(place.clone()) {
            let address = value.as_ptr() as usize;
            let reached = Reached::new(place, namespace, mention);
            self.plan.definitions.push((reached, address));
        }
    }

    fn look(
        &mut self,
        place: Place,
        namespace: usize,
        mention: &Mention<'py>,
        value: &Bound<'py, PyAny>,
        mentioned: &[Mention<'py>],
        depth: u32,
    ) {
        if let Ok(function) = value.cast_exact::<PyFunction>() {
            self.look_into_function(function, mentioned);
            self.note_definition(place, namespace, mention, value);
            self.follow_function(function, None, depth);
        } else if value.cast_exact::<PyCFunction>().is_ok() {
            self.note_definition(place, namespace, mention, value);
        } else if let Ok(class) = value.cast::<PyType>() {
            self.look_into_class(class, mentioned, depth);
        } else if value.is_instance_of::<PyModule>() {
            self.look_into_module(value, mentioned, depth);
        } else if is_data(value) && !mention.0.starts_with("__") {
            self.note(place, namespace, mention);
        }
    }

    fn note(&mut self, place: Place, namespace: usize, mention: &Mention<'py>) {
        if self.plan.places.len() < MOST_PLACES && self.known.insert(place.clone()) {
            let reached = Reached::new(place, namespace, mention);
            self.plan.places.push(reached);
        }
    }

    fn note_absent(&mut self, place: Place, namespace: usize, mention: &Mention<'py>, depth: u32) {
        let is_new = depth < 2 && self.plan.absent.len() < 4 * MOST_PLACES;
        if is_new && self.known.insert(place.clone()) {
            let reached = Reached::new(place, namespace, mention);
            self.plan.absent.push(reached);
        }
    }

    fn follow_function(
        &mut self,
        function: &Bound<'py, PyFunction>,
        receiver: Option<&Bound<'py, PyType>>,
        depth: u32,
    ) {
        // Functions answer these themselves.
        let code = function
            .getattr("__code__")
            .ok()
            .and_then(|code| code.cast_into().ok());
        let globals = function
            .getattr("__globals__")
            .ok()
            .and_then(|all| all.cast_into().ok());
        let (Some(code), Some(globals)) = (code, globals) else {
            return;
        };
        let (code, globals): (Bound<'_, PyCode>, Bound<'_, PyDict>) = (code, globals);
        let file = code.getattr("co_filename");
        if file.is_ok_and(|file| self.scoped.has(&file, &globals)) {
            self.follow(&code, &globals, receiver, depth + 1);
        }
    }

    fn look_into_module(
        &mut self,
        module: &Bound<'py, PyAny>,
        mentioned: &[Mention<'py>],
        depth: u32,
    ) {
        let Some(namespace) = names::module_namespace(module) else {
            return;
        };
        let file = names::entry(&namespace, "__file__");
        let is_ours = file.is_some_and(|file| self.scoped.has(&file, &namespace));
        let Some(name) = names::module_name(module).filter(|_| is_ours && depth < DEEPEST) else {
            return;
        };
        let number = self.number(&namespace, Some(module));
        for mention in mentioned {
            let place = Place::Global {
                module: name.clone(),
                name: mention.0.clone(),
            };
            match self.entry(number, &mention.1) {
                Some(value) if !value.is_instance_of::<PyModule>() => {
                    self.look(place, number, mention, &value, mentioned, depth + 1);
                }
                Some(_) => {}
                None => self.note_absent(place, number, mention, depth + 1),
            }
        }
    }

    fn look_into_class(
        &mut self,
        class: &Bound<'py, PyType>,
        mentioned: &[Mention<'py>],
        depth: u32,
    ) {
        let reference = names::class_reference(class);
        let module = testwright_capture::Reference::new(&reference.module, "");
        let module =
            names::found(class.py(), &module).and_then(|one| names::module_namespace(&one));
        let is_ours = module.is_some_and(|globals| {
            let file = names::entry(&globals, "__file__");
            file.is_some_and(|file| self.scoped.has(&file, &globals))
        });
        let Some(namespace) = names::namespace(class).filter(|_| is_ours) else {
            return;
        };
        let number = self.number(&namespace, Some(class.as_any()));
        let made = ["__init__", "__new__"]
            .map(|name| (name.to_owned(), PyString::intern(class.py(), name)));
        for mention in mentioned.iter().chain(&made) {
            let place = Place::ClassAttribute {
                class: reference.clone(),
                name: mention.0.clone(),
            };
            let Some(value) = self.entry(number, &mention.1) else {
                self.note_absent(place, number, mention, depth + 1);
                continue;
            };
            let inner = names::function_inside(&value).unwrap_or_else(|| value.clone());
            if let Ok(function) = inner.cast_exact::<PyFunction>() {
                self.note_definition(place, number, mention, &value);
                self.follow_function(function, Some(class), depth);
            } else if is_data(&value) && !mention.0.starts_with("__") {
                self.note(place, number, mention);
            }
        }
    }
}

impl Reached {
    fn new(place: Place, namespace: usize, mention: &Mention<'_>) -> Reached {
        Reached {
            place,
            namespace,
            name: mention.1.clone().unbind(),
        }
    }
}

/// A name in a code object, as a text and as the object that dictionaries know it by.
type Mention<'py> = (String, Bound<'py, PyString>);

/// All names of globals and attributes in a code object and in those inside it.
fn mention<'py>(code: &Bound<'py, PyCode>, names: &mut Vec<Mention<'py>>) {
    let all = |name: &str| {
        let all = code.getattr(name).ok();
        all.and_then(|all| all.cast_into::<PyTuple>().ok())
    };
    for name in all("co_names").iter().flat_map(|names| names.iter()) {
        if let Ok(name) = name.cast_into::<PyString>()
            && !names.iter().any(|(_, known)| known.is(&name))
        {
            names.push((name.to_string_lossy().into_owned(), name));
        }
    }
    for constant in all("co_consts").iter().flat_map(|all| all.iter()) {
        if let Ok(inner) = constant.cast::<PyCode>() {
            mention(inner, names);
        }
    }
}
