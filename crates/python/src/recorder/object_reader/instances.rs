//! Instances of classes written in Python, exceptions, and members of enumerations.

use pyo3::exceptions::PyBaseException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple, PyType};
use rustc_hash::FxHashMap;
use testwright_capture::{Exception, ImportPath, InstanceValue, NodeId, ObjectKind, Value};

use super::super::names;
use super::ValueGraphBuilder;
use crate::reachability::classes::{AttributeLayout, InstanceAttributes};

/// The maximum number of known classes, which are kept alive.
const MAX_CLASSES: usize = 1_000;

/// Known classes.
pub(in crate::recorder) struct ClassCache {
    /// Known classes by address.
    known: FxHashMap<usize, ClassInfo>,
    /// The metaclass of enumerations.
    enumerations: Py<PyAny>,
}

/// A class, and the facts needed to read its instances.
struct ClassInfo {
    /// Keeps the class alive.
    _class: Py<PyType>,
    /// The storage of attributes; `None` if it is opaque.
    layout: Option<AttributeLayout>,
    reference: ImportPath,
    is_importable: bool,
    kind: ObjectKind,
    is_enumeration: bool,
}

// SAFETY: the pointers in a layout are used only with the interpreter's lock held; their targets
// are kept alive beside it.
unsafe impl Send for ClassInfo {}

impl ClassCache {
    pub(in crate::recorder) fn new(python: Python<'_>) -> PyResult<ClassCache> {
        let enumerations = python.import("enum")?.getattr("EnumMeta")?.unbind();
        Ok(ClassCache {
            known: FxHashMap::default(),
            enumerations,
        })
    }

    /// Returns the facts about a class, finding them on first use.
    fn class_info(&mut self, class: &Bound<'_, PyType>) -> &ClassInfo {
        if self.known.len() > MAX_CLASSES {
            self.known.clear();
        }
        let address = class.as_ptr() as usize;
        self.known.entry(address).or_insert_with(|| {
            let reference = names::class_reference(class);
            let metaclass = class.as_any().get_type();
            let metaclasses = names::method_resolution_order(&metaclass);
            ClassInfo {
                _class: class.clone().unbind(),
                // SAFETY: the class is kept alive beside its layout.
                layout: unsafe { AttributeLayout::from_class(class.as_type_ptr()) },
                is_importable: names::resolves_to(&reference, class.as_any()),
                reference,
                kind: object_kind(class),
                is_enumeration: metaclasses.iter().any(|class| class.is(&self.enumerations)),
            }
        })
    }
}

/// Returns the kind of instances: of a dataclass, `attrs`, pydantic, a named tuple or a plain
/// class.
fn object_kind(class: &Bound<'_, PyType>) -> ObjectKind {
    let is_tuple = class.is_subclass_of::<PyTuple>().unwrap_or(false);
    for base in names::method_resolution_order(class) {
        let Some(namespace) = names::class_namespace(&base) else {
            continue;
        };
        let has = |name| names::entry(&namespace, name).is_some();
        if has("__dataclass_fields__") {
            return ObjectKind::Dataclass;
        }
        if has("__attrs_attrs__") {
            return ObjectKind::Attrs;
        }
        if has("__pydantic_fields__") {
            return ObjectKind::Pydantic;
        }
        if is_tuple && has("_fields") {
            return ObjectKind::NamedTuple;
        }
    }
    ObjectKind::Plain
}

impl ValueGraphBuilder<'_> {
    /// Reads an instance by its class and attributes. Returns an unknown value if its storage is
    /// opaque.
    pub(super) fn instance(&mut self, object: &Bound<'_, PyAny>, depth: u32) -> Value {
        let class = object.get_type();
        let known = self.reader.classes.class_info(&class);
        let (reference, is_importable) = (known.reference.clone(), known.is_importable);
        let (kind, is_enumeration) = (known.kind, known.is_enumeration);
        let Some(layout) = &known.layout else {
            if let Ok(exception) = object.cast::<PyBaseException>() {
                return self.exception(exception, reference, is_importable, Vec::new(), depth);
            }
            let reason = "its type does not expose its state".to_owned();
            return Value::Unknown {
                class: reference,
                reason,
            };
        };
        // SAFETY: the layout belongs to the object's class.
        let attributes = unsafe { attributes(object, layout) };
        let is_bare = has_no_own_state(layout.base);
        // SAFETY: as above.
        if is_enumeration && let Some(names) = unsafe { member_names(&class, layout, &attributes) }
        {
            return Value::EnumMember {
                class: reference,
                names,
            };
        }
        if let Ok(exception) = object.cast::<PyBaseException>() {
            return self.exception(exception, reference, is_importable, attributes, depth);
        }
        let content = if is_bare {
            None
        } else {
            let content =
                super::simple_content(object).or_else(|| self.container(object, depth, false));
            let Some(content) = content else {
                let reason = "it is derived from a type that does not expose its state".to_owned();
                return Value::Unknown {
                    class: reference,
                    reason,
                };
            };
            Some(self.add_plain(content))
        };
        let attributes = self.add_attributes(attributes, depth);
        Value::Object(InstanceValue {
            class: reference,
            is_importable,
            kind,
            content,
            attributes,
        })
    }

    /// Adds the values of attributes.
    fn add_attributes(
        &mut self,
        attributes: Vec<(String, Bound<'_, PyAny>)>,
        depth: u32,
    ) -> Vec<(String, NodeId)> {
        let node = |(name, value): (String, Bound<'_, PyAny>)| (name, self.node(&value, depth));
        attributes.into_iter().map(node).collect()
    }

    /// Reads an exception: its arguments, attributes, cause, context and group members.
    fn exception<'py>(
        &mut self,
        exception: &Bound<'py, PyBaseException>,
        class: ImportPath,
        is_importable: bool,
        mut attributes: Vec<(String, Bound<'py, PyAny>)>,
        depth: u32,
    ) -> Value {
        let python = exception.py();
        attributes.extend(builtin_attributes(exception));
        // SAFETY: all exceptions share this layout; the parts are alive or null.
        let (arguments, cause, context) = unsafe {
            let parts = &*exception.as_ptr().cast::<ffi::PyBaseExceptionObject>();
            let part = |pointer| Bound::from_borrowed_ptr_or_opt(python, pointer);
            (part(parts.args), part(parts.cause), part(parts.context))
        };
        let class_of = |other: Bound<'_, PyAny>| names::class_reference(&other.get_type());
        let arguments = arguments.and_then(|arguments| arguments.cast_into::<PyTuple>().ok());
        let arguments: Vec<_> = arguments.iter().flat_map(|all| all.iter()).collect();
        let arguments = arguments.iter().map(|one| self.node(one, depth)).collect();
        let attributes = self.add_attributes(attributes, depth);
        let members = group_members(exception);
        let members = members.iter().map(|one| self.node(one, depth)).collect();
        Value::Exception(Exception {
            class,
            is_importable,
            arguments,
            attributes,
            cause: cause.map(class_of),
            context: context.map(class_of),
            members,
        })
    }
}

/// Returns true if instances of a type have no state of their own: `object`, and abstract types
/// such as `datetime.tzinfo`.
fn has_no_own_state(base: *mut ffi::PyTypeObject) -> bool {
    let object = &raw mut ffi::PyBaseObject_Type;
    // SAFETY: the base of a class that is alive is alive, and states its size correctly.
    base == object
        || unsafe { (*base).tp_basicsize == (*object).tp_basicsize && (*base).tp_itemsize == 0 }
}

/// Returns the attributes that built-in exceptions store outside their dictionary. They are read
/// through descriptors of the interpreter's own classes.
fn builtin_attributes<'py>(
    exception: &Bound<'py, PyBaseException>,
) -> Vec<(String, Bound<'py, PyAny>)> {
    const KNOWN: [(&str, &[&str]); 8] = [
        ("OSError", &["errno", "strerror", "filename", "filename2"]),
        ("StopIteration", &["value"]),
        ("SystemExit", &["code"]),
        ("ImportError", &["name", "path"]),
        ("AttributeError", &["name"]),
        ("NameError", &["name"]),
        (
            "UnicodeDecodeError",
            &["encoding", "object", "start", "end", "reason"],
        ),
        (
            "UnicodeEncodeError",
            &["encoding", "object", "start", "end", "reason"],
        ),
    ];
    let mut found = Vec::new();
    for base in names::method_resolution_order(&exception.get_type()) {
        let reference = names::class_reference(&base);
        let known = KNOWN.iter().find(|(name, _)| *name == reference.path);
        let Some((_, attributes)) = known.filter(|_| reference.module == "builtins") else {
            continue;
        };
        let Some(namespace) = names::class_namespace(&base) else {
            continue;
        };
        for name in *attributes {
            let descriptor = names::entry(&namespace, name);
            let value = descriptor
                .and_then(|descriptor| descriptor.call_method1("__get__", (exception,)).ok());
            if let Some(value) = value.filter(|value| !value.is_none()) {
                found.push(((*name).to_owned(), value));
            }
        }
    }
    found
}

/// Returns the exceptions in a group, read through the interpreter's own class.
fn group_members<'py>(exception: &Bound<'py, PyBaseException>) -> Vec<Bound<'py, PyAny>> {
    let group = ImportPath::new("builtins", "BaseExceptionGroup");
    let group = (names::method_resolution_order(&exception.get_type()).into_iter())
        .find(|base| names::class_reference(base) == group);
    let descriptor = group
        .and_then(|group| names::class_namespace(&group))
        .and_then(|namespace| names::entry(&namespace, "exceptions"));
    let all = descriptor.and_then(|one| one.call_method1("__get__", (exception,)).ok());
    let all = all.and_then(|all| all.cast_into::<PyTuple>().ok());
    all.iter().flat_map(|all| all.iter()).collect()
}

/// Returns the name of an enumeration member, or the names combined in a flag.
///
/// # Safety
///
/// The layout must belong to the class.
unsafe fn member_names(
    class: &Bound<'_, PyType>,
    layout: &AttributeLayout,
    attributes: &[(String, Bound<'_, PyAny>)],
) -> Option<Vec<String>> {
    let name = attribute(attributes, "_name_")?;
    if name.is_none() {
        // SAFETY: guaranteed by the caller.
        return unsafe { combined_names(class, layout, attributes) };
    }
    // SAFETY: the name is alive.
    let name = unsafe { names::read_text(name.py(), name.as_ptr()) }?;
    Some(name.split('|').map(str::to_owned).collect())
}

/// Returns the names of the members in a nameless combination of flags, in the order of their bits.
///
/// Before 3.11 every combination is nameless, later only the empty one.
///
/// # Safety
///
/// The layout must belong to the class.
unsafe fn combined_names(
    class: &Bound<'_, PyType>,
    layout: &AttributeLayout,
    attributes_of_all: &[(String, Bound<'_, PyAny>)],
) -> Option<Vec<String>> {
    let mut missing = bits(attributes_of_all)?;
    let members = names::entry(&names::class_namespace(class)?, "_member_map_")?;
    let mut flags = Vec::new();
    for (name, member) in members.cast::<PyDict>().ok()?.iter() {
        if !member.get_type().is(class) {
            continue;
        }
        // SAFETY: the layout belongs to the member's class, and the name is alive.
        let (name, attributes) = unsafe {
            let name = names::read_text(name.py(), name.as_ptr())?;
            (name, attributes(&member, layout))
        };
        flags.extend(
            bits(&attributes)
                .filter(|bits| bits.is_power_of_two())
                .map(|bit| (bit, name)),
        );
    }
    flags.sort_by_key(|(bit, _)| *bit);
    let mut found = Vec::new();
    for (bit, name) in flags {
        // An alias of a flag finds its bit taken.
        if missing & bit != 0 {
            missing &= !bit;
            found.push(name);
        }
    }
    // Bits without names cannot be expressed by names.
    (missing == 0).then_some(found)
}

/// Returns the number of a flag.
fn bits(attributes: &[(String, Bound<'_, PyAny>)]) -> Option<u128> {
    let number = attribute(attributes, "_value_")?;
    number.cast_exact::<PyInt>().ok()?.extract().ok()
}

/// Returns the attribute with this name.
fn attribute<'a, 'py>(
    attributes: &'a [(String, Bound<'py, PyAny>)],
    wanted: &str,
) -> Option<&'a Bound<'py, PyAny>> {
    let (_, value) = attributes.iter().find(|(name, _)| name == wanted)?;
    Some(value)
}

/// Returns the attributes of an instance with their names, slots first.
///
/// # Safety
///
/// The layout must belong to the object's class.
unsafe fn attributes<'py>(
    object: &Bound<'py, PyAny>,
    layout: &AttributeLayout,
) -> Vec<(String, Bound<'py, PyAny>)> {
    let python = object.py();
    let mut found = Vec::new();
    // SAFETY: the layout gives the location of the attributes; names live as long as the class,
    // values as long as the object.
    unsafe {
        let mut note = |name, value| {
            let value = Bound::from_borrowed_ptr_or_opt(python, value);
            if let (Some(name), Some(value)) = (names::read_text(python, name), value) {
                found.push((name, value));
            }
        };
        for (offset, name) in layout.slots.iter().zip(&layout.slot_names) {
            let slot = object.as_ptr().byte_offset(*offset);
            note(*name, *slot.cast::<*mut ffi::PyObject>());
        }
        match layout.attributes(object.as_ptr()) {
            InstanceAttributes::None => {}
            InstanceAttributes::Dictionary(dictionary) => {
                let dictionary = Bound::from_borrowed_ptr(python, dictionary);
                if let Ok(dictionary) = dictionary.cast::<PyDict>() {
                    for (name, value) in dictionary.iter() {
                        note(name.as_ptr(), value.as_ptr());
                    }
                }
            }
            #[cfg(Py_3_11)]
            InstanceAttributes::Values(values) => {
                for (name, value) in layout.value_names().into_iter().zip(values) {
                    note(name, *value);
                }
            }
            #[cfg(not(Py_3_11))]
            InstanceAttributes::Values(_) => {}
        }
    }
    found
}
