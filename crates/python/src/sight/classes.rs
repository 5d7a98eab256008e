//! Where instances of classes made in Python keep their attributes.
//!
//! Asking an instance for its `__dict__` makes one, and from then on its attributes are slower. So they are read
//! where the interpreter keeps them. That differs between versions; [`Classes::new`] tries whether it is as expected.

use std::ffi::CStr;

use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::{Pointer, Unknown};

type Class = *mut ffi::PyTypeObject;

/// How the instances of a class are built, and what is known about its base.
pub(crate) struct Shape {
    pub(crate) number: usize,
    pub(crate) base: Base,
    pub(crate) layout: Layout,
}

/// Where the instances of a class keep their attributes.
pub(crate) struct Layout {
    #[cfg(Py_3_11)]
    class: Class,
    /// The type written in C that the class is derived from.
    pub(crate) base: Class,
    /// Where the attributes named in `__slots__` are.
    pub(crate) slots: Vec<isize>,
    /// Their names, in the same order; they live as long as the class.
    pub(crate) slot_names: Vec<Pointer>,
    dictionary: Dictionary,
}

/// The type written in C that a class is derived from.
#[derive(Clone, Copy)]
pub(crate) enum Base {
    Object,
    Tuple,
    List,
    Dictionary,
    Set(ffi::traverseproc),
}

#[derive(Clone, Copy)]
enum Dictionary {
    None,
    /// At this offset.
    At(isize),
    /// Counted from the end of an object of any length.
    #[cfg_attr(Py_3_12, expect(dead_code, reason = "there are none any more"))]
    FromEnd(isize),
    /// Before the object, and made only when asked for.
    Managed,
}

/// The attributes of an instance, without those in `__slots__`.
pub(crate) enum Attributes<'a> {
    None,
    Dictionary(Pointer),
    /// Without a dictionary; the class knows the names.
    #[cfg_attr(
        not(Py_3_11),
        expect(dead_code, reason = "there always is a dictionary")
    )]
    Values(&'a [Pointer]),
}

/// All shapes so far.
pub(crate) struct Classes {
    shapes: Vec<Shape>,
    numbers: FxHashMap<Class, usize>,
    /// Classes live as long as their shape, so that no other can come to lie in their place.
    kept: Vec<Py<PyAny>>,
}

impl Classes {
    pub(crate) fn new(python: Python<'_>) -> PyResult<Classes> {
        let mut classes = Classes {
            shapes: Vec::new(),
            numbers: FxHashMap::default(),
            kept: Vec::new(),
        };
        if !classes.can_read(python)? {
            return Err(pyo3::exceptions::PyNotImplementedError::new_err(
                "this interpreter keeps attributes in another place than expected",
            ));
        }
        Ok(classes)
    }

    pub(crate) fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Forgets all shapes, and with them the classes.
    pub(crate) fn clear(&mut self) {
        self.shapes.clear();
        self.numbers.clear();
        self.kept.clear();
    }

    /// Whether the attributes of an instance are where they are looked for, a missing one included.
    fn can_read(&mut self, python: Python<'_>) -> PyResult<bool> {
        let made = pyo3::types::PyDict::new(python);
        python.run(
            c"\
class Probe:
    __slots__ = ('slot', '__dict__')
class Plain:
    pass
probes = [Probe(), Plain()]
probes[0].slot = 1001
for probe in probes:
    probe.a, probe.b, probe.c = range(1002, 1005)
    del probe.b
",
            Some(&made),
            None,
        )?;
        let Some(probes) = made.get_item("probes")? else {
            return Ok(false);
        };
        for probe in probes.try_iter()? {
            let probe = probe?;
            let expected = ["slot", "a", "c"]
                .into_iter()
                .filter_map(|name| probe.getattr(name).ok())
                .map(|value| value.as_ptr());
            let expected: Vec<Pointer> = expected.collect();
            let number = match self.shape(probe.get_type().as_ptr().cast()) {
                Ok(shape) => shape.number,
                Err(_) => return Ok(false),
            };
            let mut seen = Vec::new();
            // SAFETY: the shape is the one of the object's class.
            unsafe {
                super::for_each_attribute(probe.as_ptr(), &self.shapes[number], &mut |part| {
                    if !part.is_null() && ffi::PyDict_CheckExact(part) != 0 {
                        super::for_each_entry(part, &mut |part| {
                            if ffi::PyLong_CheckExact(part) != 0 {
                                seen.push(part);
                            }
                            true
                        });
                    } else {
                        seen.push(part);
                    }
                    true
                });
            }
            let missing = seen.iter().filter(|part| part.is_null()).count();
            seen.retain(|part| !part.is_null());
            if seen != expected || missing > 1 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline]
    pub(crate) fn number(&self, number: usize) -> &Shape {
        &self.shapes[number]
    }

    /// The shape of the instances of a class.
    pub(crate) fn shape(&mut self, class: Class) -> Result<&Shape, Unknown> {
        let number = match self.numbers.get(&class) {
            Some(number) => *number,
            None => self.add(class)?,
        };
        Ok(&self.shapes[number])
    }

    #[cold]
    fn add(&mut self, class: Class) -> Result<usize, Unknown> {
        // SAFETY: the class is that of an object that is alive, and all its bases are alive with it.
        let layout = unsafe { Layout::of(class) };
        let layout = layout.filter(|layout| !matches!(layout.dictionary, Dictionary::FromEnd(_)));
        let understood = layout.and_then(|layout| Some((Base::of(layout.base)?, layout)));
        let (base, layout) = understood.ok_or_else(|| {
            format!(
                "nobody sees what an object of the class `{}` holds",
                name(class)
            )
        })?;
        let number = self.shapes.len();
        // SAFETY: the class is alive, and the interpreter is ours while shapes are asked for.
        let kept = unsafe {
            Bound::from_borrowed_ptr(Python::assume_attached(), class.cast::<ffi::PyObject>())
        };
        self.kept.push(kept.unbind());
        self.numbers.insert(class, number);
        self.shapes.push(Shape {
            number,
            base,
            layout,
        });
        Ok(number)
    }
}

/// What a class is called, with its module if it is written in C.
pub(crate) fn name(class: Class) -> String {
    // SAFETY: the name of a class that is alive is a text that lives as long.
    unsafe { CStr::from_ptr((*class).tp_name) }
        .to_string_lossy()
        .into_owned()
}

/// As `PyMemberDescrObject`, which is no part of the bindings.
#[repr(C)]
struct MemberDescriptor {
    object: ffi::PyObject,
    class: Class,
    name: Pointer,
    qualified_name: Pointer,
    member: *mut ffi::PyMemberDef,
}

/// The class that a descriptor written in C is of.
///
/// # Safety
///
/// The object must be such a descriptor.
pub(crate) unsafe fn class_of_descriptor(object: Pointer) -> Class {
    // SAFETY: they all begin with what is named here.
    unsafe { (*object.cast::<MemberDescriptor>()).class }
}

/// Whether a class with a dictionary of its own has methods that are written in C, and who knows what they do.
///
/// # Safety
///
/// The class must be alive, and be one that is made when the program runs.
pub(crate) unsafe fn is_written_in_c(class: Class) -> bool {
    // SAFETY: such classes have a dictionary, the entries of which are alive.
    unsafe {
        !super::for_each_entry((*class).tp_dict, &mut |part| {
            let kind = ffi::Py_TYPE(part);
            let is_method = kind == &raw mut ffi::PyMethodDescr_Type
                || kind == &raw mut ffi::PyClassMethodDescr_Type
                || kind == &raw mut ffi::PyWrapperDescr_Type;
            !is_method || class_of_descriptor(part) != class
        })
    }
}

impl Base {
    /// A type written in C, if it is one of those that are understood.
    fn of(class: Class) -> Option<Base> {
        if class == &raw mut ffi::PyBaseObject_Type {
            // A plain `object()`, or a type that is not made in Python and looks as if it held nothing.
            Some(Base::Object)
        } else if class == &raw mut ffi::PyTuple_Type {
            Some(Base::Tuple)
        } else if class == &raw mut ffi::PyList_Type {
            Some(Base::List)
        } else if class == &raw mut ffi::PyDict_Type {
            Some(Base::Dictionary)
        } else if class == &raw mut ffi::PySet_Type || class == &raw mut ffi::PyFrozenSet_Type {
            // SAFETY: these types are always there.
            Some(Base::Set(unsafe { (*class).tp_traverse }?))
        } else {
            None
        }
    }
}

impl Layout {
    /// Goes through the classes from an instance's own to the first that is written in C. `None` if anything is not
    /// accounted for: then some part of the instances is the business of C code.
    ///
    /// # Safety
    ///
    /// The class must be alive, and stay so as long as the layout is used.
    pub(crate) unsafe fn of(class: Class) -> Option<Layout> {
        const POINTER: isize = size_of::<Pointer>() as isize;
        let mut slots = Vec::new();
        let mut slot_names = Vec::new();
        let mut current = class;
        // SAFETY: classes hold their bases, and have a dictionary, the entries of which are alive. Member descriptors
        // have the layout above in all versions that are supported.
        unsafe {
            while ffi::PyType_HasFeature(current, ffi::Py_TPFLAGS_HEAPTYPE) != 0 {
                let base = (*current).tp_base;
                let is_plain = !base.is_null() && (*current).tp_itemsize == (*base).tp_itemsize;
                if !is_plain || is_written_in_c(current) {
                    return None;
                }
                let mut own = 0;
                let mut understood = true;
                super::for_each_entry((*current).tp_dict, &mut |part| {
                    if ffi::Py_TYPE(part) == &raw mut ffi::PyMemberDescr_Type {
                        let descriptor = &*part.cast::<MemberDescriptor>();
                        if descriptor.class == current {
                            understood &= (*descriptor.member).type_code == ffi::Py_T_OBJECT_EX;
                            slots.push((*descriptor.member).offset);
                            slot_names.push(descriptor.name);
                            own += 1;
                        }
                    }
                    true
                });
                // One that is managed takes no place in the object.
                let has_dictionary = (*current).tp_dictoffset != 0 && !is_managed(current);
                if has_dictionary && (*base).tp_dictoffset == 0 {
                    own += 1;
                }
                if (*current).tp_weaklistoffset > 0 && (*base).tp_weaklistoffset == 0 {
                    own += 1;
                }
                if !understood || (*current).tp_basicsize - (*base).tp_basicsize != own * POINTER {
                    return None;
                }
                current = base;
            }
            let dictionary = match (*class).tp_dictoffset {
                _ if is_managed(class) => Dictionary::Managed,
                0 => Dictionary::None,
                #[cfg(not(Py_3_12))]
                offset @ ..0 => Dictionary::FromEnd(offset),
                #[cfg(Py_3_12)]
                ..0 => return None,
                offset => Dictionary::At(offset),
            };
            Some(Layout {
                #[cfg(Py_3_11)]
                class,
                base: current,
                slots,
                slot_names,
                dictionary,
            })
        }
    }
}

/// The beginning of `PyDictKeysObject`, the same from Python 3.11 to 3.14.
#[cfg(Py_3_11)]
#[repr(C)]
struct Keys {
    references: isize,
    sizes: [u8; 4],
    version: u32,
    usable: isize,
    entries: isize,
}

/// `Py_TPFLAGS_MANAGED_DICT`.
#[cfg(Py_3_11)]
const MANAGED_DICTIONARY: std::ffi::c_ulong = 1 << 4;

/// Whether instances of a class have their dictionary before them, made only when asked for.
///
/// # Safety
///
/// The class must be alive.
unsafe fn is_managed(class: Class) -> bool {
    #[cfg(Py_3_11)]
    // SAFETY: as the caller promises.
    let is_managed = unsafe { ffi::PyType_HasFeature(class, MANAGED_DICTIONARY) != 0 };
    #[cfg(not(Py_3_11))]
    let is_managed = {
        let _ = class;
        false
    };
    is_managed
}

/// `Py_TPFLAGS_INLINE_VALUES`.
#[cfg(Py_3_13)]
const INLINE_VALUES: std::ffi::c_ulong = 1 << 2;

impl Layout {
    /// The attributes of an instance.
    ///
    /// # Safety
    ///
    /// The object must be an instance of the class that the layout is of.
    #[inline]
    pub(crate) unsafe fn attributes(&self, object: Pointer) -> Attributes<'_> {
        match self.dictionary {
            Dictionary::None => Attributes::None,
            Dictionary::At(offset) => {
                // SAFETY: the class says that a dictionary or null is at this offset.
                match unsafe { *object.byte_offset(offset).cast::<Pointer>() } {
                    dictionary if dictionary.is_null() => Attributes::None,
                    dictionary => Attributes::Dictionary(dictionary),
                }
            }
            Dictionary::FromEnd(offset) => {
                // SAFETY: the interpreter finds it like this, rounded up to whole words.
                let dictionary = unsafe {
                    let class = &*ffi::Py_TYPE(object);
                    let items = ffi::Py_SIZE(object).abs() * class.tp_itemsize;
                    let word = size_of::<Pointer>() as isize;
                    let size = (class.tp_basicsize + items + word - 1) / word * word;
                    *object.byte_offset(size + offset).cast::<Pointer>()
                };
                if dictionary.is_null() {
                    Attributes::None
                } else {
                    Attributes::Dictionary(dictionary)
                }
            }
            #[cfg(Py_3_11)]
            // SAFETY: as the caller promises.
            Dictionary::Managed => unsafe { self.managed_attributes(object) },
            #[cfg(not(Py_3_11))]
            Dictionary::Managed => Attributes::None,
        }
    }

    /// How many names of attributes the class knows.
    ///
    /// # Safety
    ///
    /// The class must be alive, and be one whose instances have values without a dictionary.
    #[cfg(Py_3_11)]
    #[inline]
    unsafe fn names(&self) -> usize {
        // SAFETY: classes made in Python have this layout, and those with such instances have shared keys.
        unsafe {
            let keys = (*self.class.cast::<ffi::PyHeapTypeObject>()).ht_cached_keys;
            if keys.is_null() {
                0
            } else {
                (*keys.cast::<Keys>()).entries as usize
            }
        }
    }

    /// The names that belong to [`Attributes::Values`], in their order.
    ///
    /// # Safety
    ///
    /// The class must be alive, and be one whose instances have values without a dictionary.
    #[cfg(Py_3_11)]
    pub(crate) unsafe fn value_names(&self) -> Vec<Pointer> {
        // SAFETY: as for `names`. After the beginning come indices, as many bytes as the second size says, and then
        // the entries: keys that are shared have pairs of a name and of nothing.
        unsafe {
            let keys = (*self.class.cast::<ffi::PyHeapTypeObject>())
                .ht_cached_keys
                .cast::<Keys>();
            if keys.is_null() {
                return Vec::new();
            }
            let indices = 1usize << (*keys).sizes[1];
            let entries = keys.add(1).cast::<u8>().add(indices).cast::<[Pointer; 2]>();
            (0..self.names())
                .map(|place| (*entries.add(place))[0])
                .collect()
        }
    }

    /// # Safety
    ///
    /// The object must be an instance of the class that the layout is of, and the class have managed dictionaries.
    #[cfg(Py_3_11)]
    #[inline]
    unsafe fn managed_attributes(&self, object: Pointer) -> Attributes<'_> {
        // SAFETY: instances of such classes have these words before them, and values for all names the class knows.
        unsafe {
            let words = object.cast::<usize>();
            #[cfg(not(Py_3_12))]
            let (values, dictionary) = (*words.sub(4), *words.sub(3));
            #[cfg(all(Py_3_12, not(Py_3_13)))]
            let (values, dictionary) = match *words.sub(3) {
                word if word & 1 == 1 => (word + 1, 0),
                word => (0, word),
            };
            #[cfg(Py_3_13)]
            let (values, dictionary) = {
                let inline = object.byte_offset((*self.class).tp_basicsize).cast::<u8>();
                let has_values = ffi::PyType_HasFeature(self.class, INLINE_VALUES) != 0;
                // A dictionary that was asked for knows the order, too.
                if has_values && *inline.add(3) == 1 && *words.sub(3) == 0 {
                    (inline.add(size_of::<usize>()) as usize, 0)
                } else {
                    (0, *words.sub(3))
                }
            };
            if values != 0 {
                let values = std::slice::from_raw_parts(values as *const Pointer, self.names());
                Attributes::Values(values)
            } else if dictionary != 0 {
                Attributes::Dictionary(dictionary as Pointer)
            } else {
                Attributes::None
            }
        }
    }
}
