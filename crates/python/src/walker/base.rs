//! The modules under test as they were after the last reset.
//!
//! Functions, classes and namespaces of modules are *anchors*: each has a number, and belongs to a
//! state only by what differs from the base. All other objects that modules hold are *data*, and are
//! encoded completely. While nothing differs, which one pass over pointers tells, the encoding of all
//! modules is known in advance.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Pointer;
use super::encoder::{Encoder, EncodingContext, StateRoot};
use super::layout::{self, ObjectContent, ObjectLayout};
use super::node::{ObjectImage, ObjectPart, OwnedPart, UntrackedNames};

/// A function, class or namespace of the modules under test.
struct Anchor {
    image: ObjectImage,
    /// The fields of a function, which tell faster than the image that nothing has changed.
    fields: Option<FunctionFields>,
    /// For each part, true if it is data or holds data.
    is_data: Vec<bool>,
    /// True for any part.
    has_data: bool,
}

/// The fields of a function at some time, with the version of its attributes. The image of the function
/// keeps the objects alive.
struct FunctionFields {
    function: *const ffi::PyFunctionObject,
    objects: [Pointer; 5],
    version: Option<u64>,
}

impl FunctionFields {
    /// Reads the fields of a function.
    fn read(function: Pointer) -> FunctionFields {
        let mut fields = FunctionFields {
            function: function.cast(),
            objects: [std::ptr::null_mut(); 5],
            version: None,
        };
        (fields.objects, fields.version) = fields.current();
        fields
    }

    /// Returns the present fields, and the version of the attributes; `None` without attributes.
    #[inline]
    fn current(&self) -> ([Pointer; 5], Option<u64>) {
        // SAFETY: the object is a function, which the image beside this keeps alive.
        unsafe {
            let function = &*self.function;
            let attributes = function.func_dict;
            let objects = [
                function.func_code,
                function.func_defaults,
                function.func_kwdefaults,
                function.func_closure,
                attributes,
            ];
            let version = (!attributes.is_null()).then(|| crate::dictionary::version(attributes));
            (objects, version.flatten())
        }
    }

    /// Returns true if the function is certainly unchanged.
    #[inline]
    fn are_unchanged(&self) -> bool {
        let (objects, version) = self.current();
        objects == self.objects
            && version == self.version
            && (version.is_some() || objects[4].is_null())
    }
}

impl Anchor {
    /// Returns true if the object is as it was.
    #[inline]
    fn is_unchanged(&self, python: Python<'_>, ignored: &UntrackedNames) -> bool {
        self.fields
            .as_ref()
            .is_some_and(FunctionFields::are_unchanged)
            || self.image.is_unchanged(python, ignored)
    }
}

/// The modules under test as they were after the last reset.
#[derive(Default)]
pub(crate) struct BaseImage {
    anchors: Vec<Anchor>,
    /// Objects that can change and are no anchors.
    data: Vec<ObjectImage>,
    /// The encoding of data that is reduced as for pickling; `None` for other data.
    reduced: Vec<Option<u128>>,
    /// The number of each data object in the encoding of the unchanged modules.
    numbers: FxHashMap<usize, u32>,
    /// The encoding of the unchanged modules.
    key: u128,
    /// The indices of all objects: anchors, then data.
    index: FxHashMap<usize, usize>,
    /// Slots that must not be followed.
    _ignored: Vec<Py<PyAny>>,
    /// Numbered objects, kept alive so that no other object gets their addresses.
    _numbered: Vec<Py<PyAny>>,
}

/// The encoding of the modules in a state.
pub(crate) struct ModuleEncoding<'py> {
    /// The encoding, as 128 bits.
    pub(crate) key: u128,
    /// The numbers of the data objects, if they differ from those of the base.
    pub(crate) numbers: Option<FxHashMap<usize, u32>>,
    /// Images of the objects that differ from the base, if they were wanted.
    pub(crate) images: Vec<ObjectImage>,
    /// Numbered objects, kept alive. Some are made only to be encoded, and their addresses must not be
    /// used again as long as the numbers are.
    _numbered: Vec<Bound<'py, PyAny>>,
}

impl BaseImage {
    /// Records modules, given by their namespaces, in their present state. `ignored` are objects of
    /// the tool in these namespaces.
    pub(crate) fn take<'py>(
        context: &mut EncodingContext<'py>,
        namespaces: &[Bound<'py, PyDict>],
        ignored: &[Bound<'py, PyAny>],
    ) -> BaseImage {
        context.layouts.clear();
        context.anchors.clear();
        context.namespaces = namespaces
            .iter()
            .map(|namespace| namespace.as_ptr() as usize)
            .collect();
        let mut base = BaseImage {
            _ignored: ignored
                .iter()
                .map(|object| object.clone().unbind())
                .collect(),
            ..BaseImage::default()
        };
        base.find_objects(context, namespaces, ignored);
        base.mark_data(context);
        for image in &base.data {
            base.reduced.push(reduced_key(context, image));
        }
        let mut encoder = Encoder::new(context, StateRoot::Modules);
        base.encode_anchors(&mut encoder, true);
        base.key = encoder.finish();
        base.numbers = std::mem::take(&mut encoder.numbers);
        base._numbered = std::mem::take(&mut encoder.kept_alive)
            .into_iter()
            .filter(|object| base.numbers.contains_key(&(object.as_ptr() as usize)))
            .map(Bound::unbind)
            .collect();
        base
    }

    /// Finds all objects that can change, in an order that does not depend on addresses.
    fn find_objects<'py>(
        &mut self,
        context: &mut EncodingContext<'py>,
        namespaces: &[Bound<'py, PyDict>],
        ignored: &[Bound<'py, PyAny>],
    ) {
        let python = context.python;
        let mut seen: FxHashSet<usize> = ignored
            .iter()
            .map(|object| object.as_ptr() as usize)
            .collect();
        let mut queue: std::collections::VecDeque<Bound<'py, PyAny>> = namespaces
            .iter()
            .map(|namespace| namespace.clone().into_any())
            .collect();
        let mut data = Vec::new();
        while let Some(object) = queue.pop_front() {
            if !seen.insert(object.as_ptr() as usize) {
                continue;
            }
            let layout = context.layouts.of(&object);
            let is_anchor = context.namespaces.contains(&(object.as_ptr() as usize))
                || context.has_own_state(&object, &layout);
            let is_named = matches!(
                layout.content,
                ObjectContent::Function | ObjectContent::Class
            );
            if is_named && !is_anchor || is_plain(&layout) {
                continue;
            }
            let image = full_image(context, &object, &layout);
            queue.extend(
                image
                    .parts
                    .iter()
                    .filter_map(|part| Some(part.object()?.bind(python).clone())),
            );
            if layout.content == ObjectContent::Builtin
                && let Ok(owner) = object.getattr("__self__")
            {
                queue.push_back(owner);
            }
            if is_anchor {
                let number = self.anchors.len();
                context
                    .anchors
                    .insert(object.as_ptr() as usize, number as u32);
                self.index.insert(object.as_ptr() as usize, number);
                let is_function = layout.content == ObjectContent::Function;
                self.anchors.push(Anchor {
                    fields: is_function.then(|| FunctionFields::read(object.as_ptr())),
                    image,
                    is_data: Vec::new(),
                    has_data: false,
                });
            } else if !layout.is_value() {
                data.push(image);
            }
        }
        self.data = data;
        for (number, image) in self.data.iter().enumerate() {
            self.index
                .insert(image.object.as_ptr() as usize, self.anchors.len() + number);
        }
    }

    /// Marks the parts of anchors that are data or hold data.
    fn mark_data(&mut self, context: &mut EncodingContext<'_>) {
        let python = context.python;
        let ignored: FxHashSet<usize> = self
            ._ignored
            .iter()
            .map(|object| object.as_ptr() as usize)
            .collect();
        for anchor in &mut self.anchors {
            for part in &anchor.image.parts {
                let is_data = part.object().is_some_and(|object| {
                    !ignored.contains(&(object.as_ptr() as usize))
                        && holds_data(context, object.bind(python), 0)
                });
                anchor.is_data.push(is_data);
                anchor.has_data |= is_data;
            }
        }
    }

    /// Returns true if nothing differs from the base.
    pub(crate) fn is_unchanged(&self, context: &mut EncodingContext<'_>) -> bool {
        let python = context.python;
        self.anchors
            .iter()
            .all(|anchor| anchor.is_unchanged(python, &context.ignored))
            && self
                .data
                .iter()
                .zip(&self.reduced)
                .all(|(image, reduced)| is_data_unchanged(context, image, *reduced))
    }

    /// Returns the numbers of data objects while nothing differs from the base.
    pub(crate) fn numbers(&self) -> &FxHashMap<usize, u32> {
        &self.numbers
    }

    /// Encodes the modules in their present state. Takes images of what differs, if they are wanted.
    pub(crate) fn encode<'py>(
        &self,
        context: &mut EncodingContext<'py>,
        wants_images: bool,
    ) -> ModuleEncoding<'py> {
        if self.is_unchanged(context) {
            return ModuleEncoding {
                key: self.key,
                numbers: None,
                images: Vec::new(),
                _numbered: Vec::new(),
            };
        }
        let python = context.python;
        let mut encoder = Encoder::new(context, StateRoot::Modules);
        encoder.images = wants_images.then(Vec::new);
        self.encode_anchors(&mut encoder, false);
        let key = encoder.finish();
        let numbers = std::mem::take(&mut encoder.numbers);
        let mut images = encoder.images.take().unwrap_or_default();
        let numbered = std::mem::take(&mut encoder.kept_alive);
        drop(encoder);
        if wants_images {
            // What is as in the base is restored from there.
            let is_as_in_base = |image: &ObjectImage| {
                let Some(index) = self.index.get(&(image.object.as_ptr() as usize)) else {
                    return false;
                };
                let Some(base) = self.image(*index) else {
                    return false;
                };
                !is_reduced(&base.layout)
                    && base.layout.class.is(&image.layout.class)
                    && base.parts.len() == image.parts.len()
                    && base
                        .parts
                        .iter()
                        .zip(&image.parts)
                        .all(|(one, other)| one.as_part() == other.as_part())
            };
            images.retain(|image| !is_as_in_base(image));
            for anchor in &self.anchors {
                if !anchor.is_unchanged(python, &context.ignored) {
                    let object = anchor.image.object.bind(python);
                    let layout = &anchor.image.layout;
                    images.push(ObjectImage::read(object, layout, &context.ignored));
                }
            }
        }
        ModuleEncoding {
            key,
            numbers: Some(numbers),
            images,
            _numbered: numbered,
        }
    }

    /// Encodes what anchors hold: their data, and what differs from the base.
    fn encode_anchors(&self, encoder: &mut Encoder<'_, '_>, is_base: bool) {
        let python = encoder.context.python;
        for (number, anchor) in self.anchors.iter().enumerate() {
            let unchanged = is_base || anchor.is_unchanged(python, &encoder.context.ignored);
            if unchanged && !anchor.has_data {
                continue;
            }
            let object = anchor.image.object.bind(python);
            let current = (!unchanged)
                .then(|| ObjectImage::read(object, &anchor.image.layout, &encoder.context.ignored));
            let parts = current
                .as_ref()
                .map_or(&anchor.image.parts, |current| &current.parts);
            if has_other_form(anchor, parts) {
                // Names came or went, so their order matters.
                encoder.write_number(b'R', number as u64);
                encoder.write_number(b'#', parts.len() as u64);
                for part in parts {
                    encode_part(encoder, part);
                }
                continue;
            }
            for (position, part) in parts.iter().enumerate() {
                let base = &anchor.image.parts[position];
                let is_data = anchor.is_data[position];
                if !is_data && is_same_value(encoder, base, part) {
                    continue;
                }
                encoder.write_number(b'D', number as u64);
                encoder.write_number(b'#', position as u64);
                encode_part(encoder, part);
            }
        }
    }

    /// Returns an image by its index.
    fn image(&self, index: usize) -> Option<&ObjectImage> {
        match self.anchors.get(index) {
            Some(anchor) => Some(&anchor.image),
            None => self.data.get(index - self.anchors.len()),
        }
    }

    /// Calls a function with the image of each object that differs from the base, unless the object is
    /// one of `others`.
    pub(crate) fn for_each_changed(
        &self,
        context: &mut EncodingContext<'_>,
        others: &FxHashSet<usize>,
        mut restore: impl FnMut(&mut EncodingContext<'_>, &ObjectImage) -> PyResult<()>,
    ) -> PyResult<()> {
        let python = context.python;
        for anchor in &self.anchors {
            let address = anchor.image.object.as_ptr() as usize;
            if !anchor.is_unchanged(python, &context.ignored) && !others.contains(&address) {
                restore(context, &anchor.image)?;
            }
        }
        for (image, reduced) in self.data.iter().zip(&self.reduced) {
            let address = image.object.as_ptr() as usize;
            if !is_data_unchanged(context, image, *reduced) && !others.contains(&address) {
                restore(context, image)?;
            }
        }
        Ok(())
    }

    /// Returns the names of what differs from the base, such as `` `log` in `Stack` ``.
    pub(crate) fn changed_names(
        &self,
        context: &mut EncodingContext<'_>,
    ) -> std::collections::BTreeSet<String> {
        let python = context.python;
        let places = self.places(python);
        let mut names = std::collections::BTreeSet::new();
        let nothing = FxHashSet::default();
        let _no_error = self.for_each_changed(context, &nothing, |context, image| {
            let object = image.object.bind(python);
            if !context.anchors.contains_key(&(object.as_ptr() as usize)) {
                let place = places.get(&(object.as_ptr() as usize)).cloned();
                names
                    .insert(place.unwrap_or_else(|| format!("a `{}`", layout::class_name(object))));
                return Ok(());
            }
            let current = ObjectImage::read(object, &image.layout, &context.ignored);
            let [before, after] = [image, &current].map(|image| named_parts(python, image));
            let differs = |(name, part): &&(String, &OwnedPart),
                           others: &[(String, &OwnedPart)]| {
                let mut others = others.iter();
                !others.any(|(other, found)| other == name && found.as_part() == part.as_part())
            };
            let gone = before.iter().filter(|one| differs(one, &after));
            let found = after.iter().filter(|one| differs(one, &before));
            names.extend(gone.chain(found).map(|(name, _)| name.clone()));
            Ok(())
        });
        names
    }

    /// Returns a name for each data object: that of the first place from which it is reached.
    fn places(&self, python: Python<'_>) -> FxHashMap<usize, String> {
        let mut places: FxHashMap<usize, String> = FxHashMap::default();
        for anchor in &self.anchors {
            for (name, part) in named_parts(python, &anchor.image) {
                let mut waiting: Vec<Py<PyAny>> = Vec::new();
                waiting.extend(part.object().map(|object| object.clone_ref(python)));
                while let Some(object) = waiting.pop() {
                    let address = object.as_ptr() as usize;
                    if places.contains_key(&address) {
                        continue;
                    }
                    let parts = match self.index.get(&address) {
                        Some(index) if *index < self.anchors.len() => continue,
                        Some(index) => self.image(*index).map(|image| &image.parts),
                        None => None,
                    };
                    let own = parts.into_iter().flatten().filter_map(OwnedPart::object);
                    waiting.extend(own.map(|part| part.clone_ref(python)));
                    if let Ok(items) = object.bind(python).cast_exact::<pyo3::types::PyTuple>() {
                        waiting.extend(items.iter().map(Bound::unbind));
                    }
                    places.insert(address, name.clone());
                }
            }
        }
        places
    }

    /// Returns the encoding of the unchanged modules.
    pub(crate) fn key(&self) -> u128 {
        self.key
    }

    /// Returns the functions among the anchors.
    pub(crate) fn functions<'py>(&self, python: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        let anchors = self.anchors.iter().map(|anchor| &anchor.image);
        anchors
            .filter(|image| image.layout.content == ObjectContent::Function)
            .map(|image| image.object.bind(python).clone())
            .collect()
    }
}

/// Returns the parts of an anchor that have names, with these names as a user knows them.
fn named_parts<'i>(python: Python<'_>, image: &'i ObjectImage) -> Vec<(String, &'i OwnedPart)> {
    let object = image.object.bind(python);
    let text = |name: &str| object.getattr(name).map(|name| name.to_string());
    let mut named = Vec::new();
    let (owner, entries) = match image.layout.content {
        ObjectContent::Function => {
            let owner = text("__qualname__").unwrap_or_default();
            let fields = [
                "the code",
                "a default argument",
                "a default argument",
                "the closure",
            ];
            for (field, part) in fields.iter().zip(&image.parts) {
                named.push((format!("{field} of `{owner}`"), part));
            }
            (owner, image.parts.get(4..).unwrap_or_default())
        }
        ObjectContent::Class => (
            text("__qualname__").unwrap_or_default(),
            image.parts.as_slice(),
        ),
        _ => (String::new(), image.parts.as_slice()),
    };
    let module = object.get_item("__name__").map(|name| name.to_string());
    for entry in entries.chunks_exact(2) {
        let Some(name) = entry[0].object() else {
            continue;
        };
        let name = name.bind(python);
        named.push(match &module {
            Ok(module) if owner.is_empty() => (format!("`{name}` in `{module}`"), &entry[1]),
            _ => (format!("`{owner}.{name}`"), &entry[1]),
        });
    }
    named
}

/// Encodes a part of an anchor.
fn encode_part(encoder: &mut Encoder<'_, '_>, part: &OwnedPart) {
    let python = encoder.context.python;
    match part {
        OwnedPart::Object(object) => encoder.encode(object.bind(python).clone()),
        OwnedPart::Missing => encoder.write_number(b'-', 0),
        OwnedPart::Number(number) => encoder.write_number(b'#', *number as u64),
    }
}

/// Returns true if the names in an anchor are not those of the base, in the same order.
fn has_other_form(anchor: &Anchor, parts: &[OwnedPart]) -> bool {
    let base = &anchor.image.parts;
    if base.len() != parts.len() {
        return true;
    }
    // A function has four fields before its attributes.
    let first = match anchor.image.layout.content {
        ObjectContent::Function => 4,
        _ => 0,
    };
    base.iter()
        .zip(parts)
        .skip(first)
        .step_by(2)
        .any(|(one, other)| one.as_part() != other.as_part())
}

/// Returns true if a part of an anchor is the one of the base, or a value with the same encoding.
fn is_same_value(encoder: &mut Encoder<'_, '_>, base: &OwnedPart, part: &OwnedPart) -> bool {
    if base.as_part() == part.as_part() {
        return true;
    }
    let python = encoder.context.python;
    let (Some(base), Some(part)) = (base.object(), part.object()) else {
        return false;
    };
    let part = part.bind(python);
    !holds_data(encoder.context, part, 0)
        && encoder.independent_key(base.bind(python)) == encoder.independent_key(part)
}

/// Returns true if objects of a class neither change nor hold anything.
fn is_plain(layout: &ObjectLayout) -> bool {
    use ObjectContent::*;
    layout.is_value()
        && matches!(
            layout.content,
            Singleton | Integer | Float | Complex | Text | Bytes | Code | Module | Ignored
        )
}

/// Returns true if an object is reduced as for pickling.
fn is_reduced(layout: &ObjectLayout) -> bool {
    matches!(
        layout.content,
        ObjectContent::Reduced | ObjectContent::Generator
    )
}

/// Takes an image of an object, with its reduction if it has one.
fn full_image(
    context: &EncodingContext<'_>,
    object: &Bound<'_, PyAny>,
    layout: &std::rc::Rc<ObjectLayout>,
) -> ObjectImage {
    let mut image = ObjectImage::read(object, layout, &context.ignored);
    if is_reduced(layout)
        && let Ok(state) = super::encoder::reduce(object, layout)
    {
        image.parts.push(OwnedPart::Object(state.unbind()));
    }
    image
}

/// Returns true if an object is data, or a value that holds data.
fn holds_data(context: &mut EncodingContext<'_>, object: &Bound<'_, PyAny>, depth: u32) -> bool {
    let python = context.python;
    // SAFETY: makes another reference to the same object, for the lifetime of the context.
    let object = unsafe { Bound::from_borrowed_ptr(python, object.as_ptr()) };
    let layout = context.layouts.of(&object);
    if is_plain(&layout) || context.anchors.contains_key(&(object.as_ptr() as usize)) {
        return false;
    }
    let is_named = matches!(
        layout.content,
        ObjectContent::Function | ObjectContent::Class
    );
    if is_named && !context.has_own_state(&object, &layout) {
        return false;
    }
    if !layout.is_value() || depth > 100 {
        return true;
    }
    if layout.content == ObjectContent::Builtin {
        let owner = object.getattr("__self__").ok();
        return owner.is_some_and(|owner| holds_data(context, &owner, depth + 1));
    }
    let image = ObjectImage::read(&object, &layout, &context.ignored);
    image.parts.iter().any(|part| {
        part.object()
            .is_some_and(|part| holds_data(context, part.bind(python), depth + 1))
    })
}

/// Returns the encoding of an object that is reduced as for pickling.
pub(crate) fn reduced_key(context: &mut EncodingContext<'_>, image: &ObjectImage) -> Option<u128> {
    if !is_reduced(&image.layout) {
        return None;
    }
    let python = context.python;
    let mut encoder = Encoder::new(context, StateRoot::Modules);
    encoder.encode(image.object.bind(python).clone());
    Some(encoder.finish())
}

/// Returns true if an object is as in an image, given the encoding of one that is reduced.
pub(crate) fn is_data_unchanged(
    context: &mut EncodingContext<'_>,
    image: &ObjectImage,
    reduced: Option<u128>,
) -> bool {
    match reduced {
        Some(_) => reduced_key(context, image) == reduced,
        None => image.is_unchanged(context.python, &context.ignored),
    }
}

/// Writes an image back into its object, and checks that it worked, unless the object is reduced as for
/// pickling: then other objects may have to be written back as well. The previous parts are added to
/// `previous`, so that nothing is freed in between.
pub(crate) fn restore_image(
    context: &mut EncodingContext<'_>,
    image: &ObjectImage,
    previous: &mut Vec<ObjectImage>,
) -> PyResult<()> {
    let python = context.python;
    let object = image.object.bind(python);
    if is_reduced(&image.layout) {
        if let Some(ObjectPart::Object(_)) = image.parts.last().map(OwnedPart::as_part)
            && let Some(state) = image.parts.last().and_then(OwnedPart::object)
        {
            let state = state.bind(python);
            match image.layout.content {
                ObjectContent::Generator => {
                    let base = image.layout.base.bind(python);
                    base.call_method1("setstate", (object, state))?;
                }
                _ => super::write::set_state(object, state)?,
            }
        }
        return Ok(());
    }
    let current = context.layouts.of(object);
    previous.push(ObjectImage::read(object, &current, &context.ignored));
    image.write(python, &context.ignored)?;
    if image.is_unchanged(python, &context.ignored) {
        Ok(())
    } else {
        Err(cannot_restore(object))
    }
}

/// Returns the error for an object that did not become what it was.
pub(crate) fn cannot_restore(object: &Bound<'_, PyAny>) -> PyErr {
    let class = layout::class_name(object);
    pyo3::exceptions::PyRuntimeError::new_err(format!("a `{class}` cannot be put back"))
}
