//! The layouts of objects: where a class keeps what can change in its objects.

use std::rc::Rc;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use rustc_hash::FxHashMap;

/// The kind of contents that objects of a class have besides attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectContent {
    /// None: `object` and classes derived from it only.
    Nothing,
    /// The singletons `None`, `Ellipsis` and `NotImplemented`.
    Singleton,
    Integer,
    Float,
    Complex,
    Text,
    Bytes,
    Code,
    /// A module that was imported.
    Module,
    /// A module object that code made itself.
    MadeModule,
    /// A function written in C, bound or not.
    Builtin,
    Tuple,
    FrozenSet,
    /// A method bound to an object.
    BoundMethod,
    /// A property, static method, class method, or another object whose references tell all.
    Wrapper,
    List,
    Dictionary,
    OrderedDictionary,
    DefaultDictionary,
    Set,
    Deque,
    ByteArray,
    Cell,
    Function,
    Class,
    Exception,
    /// The cache of `functools.lru_cache`.
    LruCache,
    /// A random number generator, with `getstate` and `setstate`.
    Generator,
    /// An object written in C that can be reduced as for pickling.
    Reduced,
    /// An immutable object that is reduced as for pickling.
    ReducedValue,
    /// A lock, which is held or not.
    Lock,
    /// A lock that its owner can acquire again. The number of times cannot be seen.
    ReentrantLock,
    /// A weak reference. Only classes and functions live on while a state is kept.
    WeakReference,
    /// A stream of text. Only the standard ones have no state.
    TextStream,
    /// An object with a thread of its own, or another that is more than its attributes.
    Unseen,
    /// A part of the interpreter or of the tool that does not belong to a state.
    Ignored,
}

/// The layout of the objects of a class.
#[derive(Debug)]
pub(crate) struct ObjectLayout {
    /// The class, kept alive so that its address stays unique.
    pub(crate) class: Py<PyType>,
    /// Objects have a `__dict__`.
    pub(crate) has_dict: bool,
    /// The descriptors of `__slots__`.
    pub(crate) slots: Vec<Py<PyAny>>,
    /// The contents besides attributes.
    pub(crate) content: ObjectContent,
    /// The class that provides the contents, if it is another one.
    pub(crate) base: Py<PyType>,
    /// The class was made by a `class` statement.
    pub(crate) is_python_class: bool,
}

impl ObjectLayout {
    /// Returns true if the object itself is immutable. It may still hold objects that are not.
    pub(crate) fn is_value(&self) -> bool {
        use ObjectContent::*;
        let has_attributes = self.has_dict && self.is_python_class || !self.slots.is_empty();
        !has_attributes
            && matches!(
                self.content,
                Singleton
                    | Integer
                    | Float
                    | Complex
                    | Text
                    | Bytes
                    | Code
                    | Module
                    | Builtin
                    | Tuple
                    | FrozenSet
                    | BoundMethod
                    | Wrapper
                    | ReducedValue
                    | Ignored
            )
    }
}

/// The layouts of all classes seen so far.
pub(crate) struct ObjectLayouts {
    by_class: FxHashMap<usize, Rc<ObjectLayout>>,
    /// The layouts of module objects that code made itself, by class.
    made_modules: FxHashMap<usize, Rc<ObjectLayout>>,
    /// The function that frees objects of classes made by `class` statements.
    python_dealloc: usize,
    /// Contents by class, for classes that have no type check of their own.
    known: FxHashMap<usize, ObjectContent>,
    _kept_alive: Vec<Py<PyAny>>,
}

/// Classes by module and name, with the contents of their objects.
const KNOWN_CLASSES: &[(&str, &str, ObjectContent)] = &[
    ("types", "NoneType", ObjectContent::Singleton),
    (
        "collections",
        "OrderedDict",
        ObjectContent::OrderedDictionary,
    ),
    (
        "collections",
        "defaultdict",
        ObjectContent::DefaultDictionary,
    ),
    ("collections", "deque", ObjectContent::Deque),
    ("types", "ModuleType", ObjectContent::Module),
    ("types", "BuiltinFunctionType", ObjectContent::Builtin),
    ("types", "MethodType", ObjectContent::BoundMethod),
    ("types", "CodeType", ObjectContent::Code),
    ("types", "CellType", ObjectContent::Cell),
    ("types", "FunctionType", ObjectContent::Function),
    ("types", "WrapperDescriptorType", ObjectContent::Builtin),
    ("types", "MethodWrapperType", ObjectContent::Wrapper),
    ("types", "MethodDescriptorType", ObjectContent::Builtin),
    ("types", "ClassMethodDescriptorType", ObjectContent::Builtin),
    ("types", "GetSetDescriptorType", ObjectContent::Builtin),
    ("types", "MemberDescriptorType", ObjectContent::Builtin),
    ("types", "MappingProxyType", ObjectContent::Wrapper),
    ("types", "GenericAlias", ObjectContent::Wrapper),
    ("types", "UnionType", ObjectContent::Wrapper),
    ("builtins", "property", ObjectContent::Wrapper),
    ("builtins", "staticmethod", ObjectContent::Wrapper),
    ("builtins", "classmethod", ObjectContent::Wrapper),
    ("builtins", "super", ObjectContent::Wrapper),
    ("types", "SimpleNamespace", ObjectContent::Nothing),
    ("builtins", "range", ObjectContent::ReducedValue),
    ("builtins", "slice", ObjectContent::ReducedValue),
    ("re", "Pattern", ObjectContent::ReducedValue),
    ("decimal", "Decimal", ObjectContent::ReducedValue),
    ("datetime", "date", ObjectContent::ReducedValue),
    ("datetime", "time", ObjectContent::ReducedValue),
    ("datetime", "datetime", ObjectContent::ReducedValue),
    ("datetime", "timedelta", ObjectContent::ReducedValue),
    ("datetime", "timezone", ObjectContent::ReducedValue),
    ("operator", "itemgetter", ObjectContent::ReducedValue),
    ("operator", "attrgetter", ObjectContent::ReducedValue),
    ("operator", "methodcaller", ObjectContent::ReducedValue),
    ("functools", "partial", ObjectContent::Wrapper),
    ("functools", "_lru_cache_wrapper", ObjectContent::LruCache),
    ("_random", "Random", ObjectContent::Generator),
    ("_thread", "LockType", ObjectContent::Lock),
    ("_thread", "RLock", ObjectContent::ReentrantLock),
    ("weakref", "ReferenceType", ObjectContent::WeakReference),
    ("_io", "TextIOWrapper", ObjectContent::TextStream),
    ("threading", "Thread", ObjectContent::Unseen),
    ("struct", "Struct", ObjectContent::Ignored),
    ("_abc", "_abc_data", ObjectContent::Ignored),
    ("typing", "TypeVar", ObjectContent::Ignored),
    ("typing", "ParamSpec", ObjectContent::Ignored),
    ("logging", "Logger", ObjectContent::Ignored),
];

impl ObjectLayouts {
    /// Creates an empty collection.
    pub(crate) fn new(python: Python<'_>) -> PyResult<ObjectLayouts> {
        let mut known = FxHashMap::default();
        let mut kept = Vec::new();
        let mut add = |class: Bound<'_, PyAny>, content| {
            known.insert(class.as_ptr() as usize, content);
            kept.push(class.unbind());
        };
        for (module, name, content) in KNOWN_CLASSES {
            // Not every version of Python has all of them.
            if let Ok(class) = python
                .import(*module)
                .and_then(|module| module.getattr(*name))
            {
                add(class, *content);
            }
        }
        for value in [python.None(), python.Ellipsis(), python.NotImplemented()] {
            add(
                value.bind(python).get_type().into_any(),
                ObjectContent::Singleton,
            );
        }
        let of_nothing = python
            .import("functools")?
            .getattr("lru_cache")?
            .call1((python.import("builtins")?.getattr("len")?,))?;
        let _a_call_makes_an_entry = of_nothing.call1(("",))?;
        let gc = python.import("gc")?;
        for part in gc
            .call_method1("get_referents", (&of_nothing,))?
            .try_iter()?
        {
            let part = part?;
            let Ok(cache) = part.cast_exact::<PyDict>() else {
                continue;
            };
            for entry in cache.values() {
                let class = entry.get_type();
                if class.name()?.to_string().contains("lru_list") {
                    add(class.into_any(), ObjectContent::Ignored);
                }
            }
        }
        let plain = PyModule::from_code(
            python,
            c"class Plain: pass",
            c"testwright/plain.py",
            c"testwright_plain",
        )?
        .getattr("Plain")?;
        let plain_type = plain.as_ptr().cast::<ffi::PyTypeObject>();
        // SAFETY: the object is a class.
        let dealloc = unsafe { (*plain_type).tp_dealloc };
        Ok(ObjectLayouts {
            by_class: FxHashMap::default(),
            made_modules: FxHashMap::default(),
            python_dealloc: dealloc.map_or(0, |dealloc| dealloc as usize),
            known,
            _kept_alive: kept,
        })
    }

    /// Forgets all classes, so that those which are gone are freed.
    pub(crate) fn clear(&mut self) {
        self.by_class.clear();
        self.made_modules.clear();
    }

    /// Returns the layout of an object.
    #[inline]
    pub(crate) fn of(&mut self, object: &Bound<'_, PyAny>) -> Rc<ObjectLayout> {
        let class = object.get_type_ptr() as usize;
        let layout = match self.by_class.get(&class) {
            Some(layout) => Rc::clone(layout),
            None => {
                let layout = Rc::new(self.analyse(&object.get_type()));
                self.by_class.insert(class, Rc::clone(&layout));
                layout
            }
        };
        if layout.content == ObjectContent::Module && !is_imported(object) {
            return self.of_made_module(object, &layout);
        }
        layout
    }

    /// Returns the layout of a module object that code made itself.
    fn of_made_module(
        &mut self,
        object: &Bound<'_, PyAny>,
        imported: &ObjectLayout,
    ) -> Rc<ObjectLayout> {
        let python = object.py();
        let made = || ObjectLayout {
            class: imported.class.clone_ref(python),
            has_dict: true,
            slots: imported
                .slots
                .iter()
                .map(|slot| slot.clone_ref(python))
                .collect(),
            content: ObjectContent::MadeModule,
            base: imported.base.clone_ref(python),
            is_python_class: imported.is_python_class,
        };
        let class = object.get_type_ptr() as usize;
        Rc::clone(
            self.made_modules
                .entry(class)
                .or_insert_with(|| Rc::new(made())),
        )
    }

    /// Returns true if a class was made by a `class` statement.
    pub(crate) fn is_python_class(&self, class: &Bound<'_, PyType>) -> bool {
        let class = class.as_type_ptr();
        // SAFETY: the class is alive.
        let (flags, dealloc) = unsafe { (ffi::PyType_GetFlags(class), (*class).tp_dealloc) };
        // SAFETY: as above.
        let has_methods_in_c = unsafe { !(*class).tp_methods.is_null() };
        flags & ffi::Py_TPFLAGS_HEAPTYPE != 0
            && !has_methods_in_c
            && dealloc.is_some_and(|dealloc| dealloc as usize == self.python_dealloc)
    }

    /// Finds out the layout of a class.
    fn analyse(&self, class: &Bound<'_, PyType>) -> ObjectLayout {
        let python = class.py();
        let mut slots = Vec::new();
        let mut base = class.clone();
        let is_python_class = self.is_python_class(class);
        let member = python
            .import("types")
            .and_then(|types| types.getattr("MemberDescriptorType"));
        let mut known = None;
        while self.is_python_class(&base) {
            known = known.or_else(|| self.known.get(&(base.as_ptr() as usize)).copied());
            let namespace = namespace(&base);
            let has_slots = namespace
                .as_ref()
                .is_some_and(|namespace| namespace.contains("__slots__").unwrap_or(false));
            if let (Some(namespace), true, Ok(member)) = (namespace, has_slots, &member) {
                let members = namespace.values();
                slots.extend(
                    members
                        .iter()
                        .filter(|value| value.get_type().is(member))
                        .map(Bound::unbind),
                );
            }
            // SAFETY: the class is alive and holds its base.
            let next = unsafe {
                let next = (*base.as_type_ptr()).tp_base;
                Bound::from_borrowed_ptr_or_opt(python, next.cast())
            };
            match next.and_then(|next| next.cast_into::<PyType>().ok()) {
                Some(next) => base = next,
                None => break,
            }
        }
        let content = known.unwrap_or_else(|| self.content(class, &base));
        let class_pointer = class.as_type_ptr();
        // SAFETY: the class is alive.
        let has_dict = unsafe {
            // The flag of managed dictionaries, from Python 3.11 on.
            (*class_pointer).tp_dictoffset != 0
                || ffi::PyType_GetFlags(class_pointer) & (1 << 4) != 0 && is_python_class
        };
        let keeps_own = matches!(
            content,
            ObjectContent::Function
                | ObjectContent::Class
                | ObjectContent::Module
                | ObjectContent::Wrapper
                | ObjectContent::Ignored
                | ObjectContent::LruCache
        );
        ObjectLayout {
            class: class.clone().unbind(),
            has_dict: has_dict
                && (!keeps_own || is_python_class && content != ObjectContent::Class),
            slots,
            content,
            base: base.unbind(),
            is_python_class,
        }
    }

    /// Returns the contents of objects whose first base class written in C is `base`.
    fn content(&self, class: &Bound<'_, PyType>, base: &Bound<'_, PyType>) -> ObjectContent {
        let pointer = base.as_type_ptr();
        let known = [class.as_ptr(), base.as_ptr()];
        if let Some(content) = known
            .iter()
            .find_map(|class| self.known.get(&(*class as usize)))
        {
            return *content;
        }
        // SAFETY: the class is alive.
        let flags = unsafe { ffi::PyType_GetFlags(pointer) };
        let flagged = [
            (ffi::Py_TPFLAGS_LONG_SUBCLASS, ObjectContent::Integer),
            (ffi::Py_TPFLAGS_LIST_SUBCLASS, ObjectContent::List),
            (ffi::Py_TPFLAGS_TUPLE_SUBCLASS, ObjectContent::Tuple),
            (ffi::Py_TPFLAGS_BYTES_SUBCLASS, ObjectContent::Bytes),
            (ffi::Py_TPFLAGS_UNICODE_SUBCLASS, ObjectContent::Text),
            (ffi::Py_TPFLAGS_DICT_SUBCLASS, ObjectContent::Dictionary),
            (ffi::Py_TPFLAGS_BASE_EXC_SUBCLASS, ObjectContent::Exception),
            (ffi::Py_TPFLAGS_TYPE_SUBCLASS, ObjectContent::Class),
        ];
        for (flag, content) in flagged {
            if flags & flag != 0 {
                return content;
            }
        }
        let is = |other: *mut ffi::PyTypeObject| std::ptr::eq(pointer, other);
        if is(&raw mut ffi::PyBaseObject_Type) {
            ObjectContent::Nothing
        } else if is(&raw mut ffi::PyFloat_Type) {
            ObjectContent::Float
        } else if is(&raw mut ffi::PyComplex_Type) {
            ObjectContent::Complex
        } else if is(&raw mut ffi::PySet_Type) {
            ObjectContent::Set
        } else if is(&raw mut ffi::PyFrozenSet_Type) {
            ObjectContent::FrozenSet
        } else if is(&raw mut ffi::PyByteArray_Type) {
            ObjectContent::ByteArray
        } else if base.module().is_ok_and(|module| {
            module.to_string().starts_with("testwright")
                || module == "builtins" && base.name().is_ok_and(|name| name == "HarnessObject")
        }) {
            ObjectContent::Ignored
        } else {
            ObjectContent::Reduced
        }
    }
}

/// Returns true if a module is the one that is imported by its name.
fn is_imported(module: &Bound<'_, PyAny>) -> bool {
    let python = module.py();
    let imported = python
        .import(pyo3::intern!(python, "sys"))
        .and_then(|sys| sys.getattr(pyo3::intern!(python, "modules")));
    let name = attributes(module).and_then(|names| {
        let names = names.cast_into::<PyDict>().ok()?;
        names
            .get_item(pyo3::intern!(python, "__name__"))
            .ok()
            .flatten()
    });
    let (Ok(imported), Some(name)) = (imported, name) else {
        return false;
    };
    imported.get_item(name).is_ok_and(|found| found.is(module))
}

/// Returns the namespace of a class.
pub(crate) fn namespace<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyDict>> {
    let pointer = class.as_type_ptr();
    // SAFETY: classes that are not static have a dictionary of their own.
    let dictionary = unsafe {
        if ffi::PyType_GetFlags(pointer) & ffi::Py_TPFLAGS_HEAPTYPE == 0 {
            return None;
        }
        Bound::from_borrowed_ptr_or_opt(class.py(), (*pointer).tp_dict)
    };
    dictionary?.cast_into::<PyDict>().ok()
}

/// Returns the `__dict__` of an object whose layout has one, as the interpreter keeps it.
pub(crate) fn attributes<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let python = object.py();
    // SAFETY: the object is alive; the result is a new reference, or null with an exception.
    unsafe {
        let found = ffi::PyObject_GenericGetDict(object.as_ptr(), std::ptr::null_mut());
        if found.is_null() {
            ffi::PyErr_Clear();
        }
        Bound::from_owned_ptr_or_opt(python, found)
    }
}

/// Returns the name of an object's class, for messages.
pub(crate) fn class_name(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .name()
        .map_or_else(|_| String::from("?"), |name| name.to_string())
}
