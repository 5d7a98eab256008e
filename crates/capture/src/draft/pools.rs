//! The values of arguments, and their distribution over pools.
//!
//! While actions are drafted, each parameter gets a [`ValueRequest`]: its recorded values, and
//! those that its type hint suggests. When all requests are known, compatible ones share a pool.
//! Small sets of values that only one action uses are written into the action itself.

use std::collections::{BTreeMap, BTreeSet};

use super::hint::HintedValues;
use super::public_api::Key;
use super::sample::{Sample, SampleKind};
use crate::write::snake_case;

/// The maximum number of values in a pool.
const MAX_VALUES: usize = 150;

/// The maximum length of a value on a line; longer ones are defined in Python code.
const MAX_IN_LINE: usize = 60;

/// The maximum number of values in an action itself, and of their characters.
const MAX_CHOICES: (usize, usize) = (8, 44);

/// The values that an argument may take.
pub(super) struct ValueRequest {
    /// The name of the parameter, as a name for a pool.
    name: String,
    /// The values: recorded ones first, then hinted ones.
    samples: Vec<Sample>,
    /// The number of recorded values.
    recorded_count: usize,
    /// The name of the hinted type, if there are no recorded values.
    label: String,
    /// The number of active actions that use it.
    active_uses: usize,
    /// The number of uses in all actions.
    uses: usize,
    /// The maximum number of its values in one action.
    max_per_action: usize,
    /// True if an action begins with it.
    starts_action: bool,
}

/// The number of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueRequestId(usize);

/// The requests of all parameters.
#[derive(Default)]
pub(super) struct ValueRequests {
    /// The requests, by number.
    requests: Vec<ValueRequest>,
    /// The numbers, by definition and parameter.
    by_parameter: BTreeMap<(Key, String), ValueRequestId>,
}

impl ValueRequests {
    /// Returns the request of a definition's parameter, and adds it if necessary.
    pub(super) fn find_or_add(&mut self, key: &Key, parameter: &str) -> ValueRequestId {
        let next = ValueRequestId(self.requests.len());
        let id = *self
            .by_parameter
            .entry((key.clone(), parameter.to_owned()))
            .or_insert(next);
        if id == next {
            self.requests.push(ValueRequest {
                name: pool_name(parameter),
                samples: Vec::new(),
                recorded_count: 0,
                label: String::new(),
                active_uses: 0,
                uses: 0,
                max_per_action: 0,
                starts_action: false,
            });
        }
        id
    }

    /// Adds a recorded value.
    pub(super) fn add_recorded(&mut self, id: ValueRequestId, sample: Sample) {
        if let Some(request) = self.requests.get_mut(id.0)
            && !request.samples.contains(&sample)
        {
            request.samples.push(sample);
            request.recorded_count = request.samples.len();
        }
    }

    /// Adds hinted values.
    pub(super) fn add_hinted(&mut self, id: ValueRequestId, hinted: &HintedValues) {
        let Some(request) = self.requests.get_mut(id.0) else {
            return;
        };
        request.label.clone_from(&hinted.label);
        for sample in &hinted.samples {
            if !request.samples.contains(sample) {
                request.samples.push(sample.clone());
            }
        }
    }

    /// Returns the request of a parameter, if there is one.
    pub(super) fn find(&self, key: &Key, parameter: &str) -> Option<ValueRequestId> {
        let parameter = (key.clone(), parameter.to_owned());
        self.by_parameter.get(&parameter).copied()
    }

    /// Returns true if it has recorded values.
    pub(super) fn has_recorded(&self, id: ValueRequestId) -> bool {
        self.requests
            .get(id.0)
            .is_some_and(|request| request.recorded_count > 0)
    }

    /// Adds a request with the recorded values of other parameters with the same name.
    pub(super) fn borrow_by_name(&mut self, key: &Key, parameter: &str) -> Option<ValueRequestId> {
        let name = pool_name(parameter);
        let alike = self.requests.iter().filter(|request| request.name == name);
        let seen = alike.flat_map(|request| request.samples.iter().take(request.recorded_count));
        let samples: Vec<Sample> = seen.cloned().collect();
        let id = (!samples.is_empty()).then(|| self.find_or_add(key, parameter))?;
        for sample in samples {
            self.add_recorded(id, sample);
        }
        Some(id)
    }

    /// Counts the use of these requests by an action.
    pub(super) fn count_uses(&mut self, ids: &[ValueRequestId], is_active: bool) {
        let different: BTreeSet<ValueRequestId> = ids.iter().copied().collect();
        for id in different {
            let times = ids.iter().filter(|other| **other == id).count();
            if let Some(request) = self.requests.get_mut(id.0) {
                request.uses += times;
                request.active_uses += usize::from(is_active);
                request.max_per_action = request.max_per_action.max(times);
            }
        }
    }

    /// Marks a request as the beginning of an action.
    pub(super) fn mark_starts_action(&mut self, id: ValueRequestId) {
        if let Some(request) = self.requests.get_mut(id.0) {
            request.starts_action = true;
        }
    }

    /// Distributes the values over pools. `taken` are names of other pools.
    pub(super) fn into_pools(self, taken: &[String]) -> DraftPools {
        let mut groups: Vec<RequestGroup> = Vec::new();
        let mut group_of = Vec::new();
        for request in &self.requests {
            let kinds: BTreeSet<SampleKind> =
                request.samples.iter().map(|sample| sample.kind).collect();
            let name = request.pool_name(&kinds);
            let fits = |group: &RequestGroup| {
                group.name == name && (group.kinds.is_empty() || !group.kinds.is_disjoint(&kinds))
            };
            let index = groups.iter().position(fits).unwrap_or_else(|| {
                groups.push(RequestGroup::new(name));
                groups.len() - 1
            });
            group_of.push(index);
            if let Some(group) = groups.get_mut(index) {
                group.add(request, kinds);
            }
        }
        let mut names: BTreeSet<String> = taken.iter().cloned().collect();
        let mut constants = BTreeSet::new();
        let mut pools = DraftPools::default();
        let mut sources = Vec::new();
        for group in groups {
            let source = match group.choices() {
                // No action uses these values.
                _ if group.uses == 0 => ArgumentValues::Choice(Vec::new()),
                Some(choices) => ArgumentValues::Choice(choices),
                None => {
                    pools
                        .pools
                        .push(group.into_pool(&mut names, &mut constants));
                    ArgumentValues::Pool(pools.pools.len() - 1)
                }
            };
            sources.push(source);
        }
        let of_request = group_of.into_iter().filter_map(|index| sources.get(index));
        pools.sources = of_request.cloned().collect();
        pools
    }
}

impl ValueRequest {
    /// Returns the name of the pool. Numbers share a pool, other values belong to the name of the
    /// parameter.
    fn pool_name(&self, kinds: &BTreeSet<SampleKind>) -> String {
        let only = |allowed: &[SampleKind]| {
            !kinds.is_empty() && kinds.iter().all(|kind| allowed.contains(kind))
        };
        if only(&[SampleKind::Boolean]) {
            "bool".to_owned()
        } else if only(&[SampleKind::Integer]) {
            "int".to_owned()
        } else if only(&[SampleKind::Integer, SampleKind::Float]) {
            "number".to_owned()
        } else if self.recorded_count == 0 && !self.label.is_empty() {
            pool_name(&self.label)
        } else {
            self.name.clone()
        }
    }
}

/// Requests that share their values.
struct RequestGroup {
    /// The name of the pool.
    name: String,
    /// The kinds of values.
    kinds: BTreeSet<SampleKind>,
    /// The recorded values.
    samples: Vec<Sample>,
    /// The hinted values.
    hinted: Vec<Sample>,
    /// The number of active actions that use them.
    active_uses: usize,
    /// The number of uses in all actions.
    uses: usize,
    /// The maximum number of values in one action.
    max_per_action: usize,
    /// True if an action begins with one of them.
    starts_action: bool,
}

impl RequestGroup {
    /// Creates a group without values.
    fn new(name: String) -> RequestGroup {
        RequestGroup {
            name,
            kinds: BTreeSet::new(),
            samples: Vec::new(),
            hinted: Vec::new(),
            active_uses: 0,
            uses: 0,
            max_per_action: 0,
            starts_action: false,
        }
    }

    /// Adds the values of a request.
    fn add(&mut self, request: &ValueRequest, kinds: BTreeSet<SampleKind>) {
        self.kinds.extend(kinds);
        let (seen, hinted) = request
            .samples
            .split_at(request.recorded_count.min(request.samples.len()));
        for sample in seen {
            if !self.samples.contains(sample) {
                self.samples.push(sample.clone());
            }
        }
        for sample in hinted {
            if !self.hinted.contains(sample) {
                self.hinted.push(sample.clone());
            }
        }
        self.active_uses += request.active_uses;
        self.uses += request.uses;
        self.max_per_action = self.max_per_action.max(request.max_per_action);
        self.starts_action |= request.starts_action;
    }

    /// Returns all values, recorded ones first.
    fn all_samples(&self) -> Vec<&Sample> {
        let further = self.hinted.iter();
        let further = further.filter(|sample| !self.samples.contains(sample));
        self.samples.iter().chain(further).collect()
    }

    /// Returns the values, if they are few and short enough for the only action that uses them.
    fn choices(&self) -> Option<Vec<String>> {
        let texts: Vec<String> = self
            .all_samples()
            .iter()
            .map(|sample| sample.full_text())
            .collect();
        if self.name == "bool" {
            return Some(vec!["True".to_owned(), "False".to_owned()]);
        }
        let (max_count, max_length) = MAX_CHOICES;
        let length: usize = texts.iter().map(|text| text.chars().count() + 1).sum();
        let fits = texts.len() <= max_count
            && length <= max_length
            && !texts.iter().any(|text| is_misread(text));
        // A brace at the start of a line begins the list of exceptions.
        let is_mistaken = self.starts_action && texts.iter().any(|text| text.starts_with('{'));
        (self.uses <= 1 && fits && !is_mistaken && !texts.is_empty()).then_some(texts)
    }

    /// Converts the group to a pool.
    fn into_pool(
        self,
        names: &mut BTreeSet<String>,
        constants: &mut BTreeSet<String>,
    ) -> DraftPool {
        let name = free_name(&self.name, names);
        let all = self.all_samples();
        let more = all.len().saturating_sub(MAX_VALUES);
        let mut entries = Vec::new();
        for sample in all.into_iter().take(MAX_VALUES) {
            let flat = sample.full_text();
            let is_long = flat.chars().count() > MAX_IN_LINE;
            let (expression, definition) = if is_long || is_misread(&flat) {
                define_value(sample, &name, constants)
            } else {
                (flat.clone(), Vec::new())
            };
            entries.push(PoolEntry {
                one_line: flat,
                expression,
                definition,
            });
        }
        DraftPool {
            name,
            size: self.max_per_action.clamp(2, 4),
            kinds: self.kinds.into_iter().collect(),
            recorded_count: self.samples.len(),
            hinted: entries.len().saturating_sub(self.samples.len()),
            left_out_count: more,
            is_active: self.active_uses > 0,
            entries,
        }
    }
}

/// Returns true if the harness language would misread a text: placeholders and choices count in
/// strings too, and a comma in a `lambda` ends it.
fn is_misread(text: &str) -> bool {
    let bracketed = text.contains('<') && text.contains('>');
    bracketed || text.matches('%').count() > 1 || text.contains("lambda ") || text.contains('\n')
}

/// The pools of a draft, and the values of each request.
#[derive(Default)]
pub(super) struct DraftPools {
    /// The pools.
    pub(super) pools: Vec<DraftPool>,
    /// The values of the requests, by number.
    sources: Vec<ArgumentValues>,
}

impl DraftPools {
    /// Returns the values of a request.
    pub(super) fn source(&self, id: ValueRequestId) -> Option<&ArgumentValues> {
        self.sources.get(id.0)
    }
}

/// The values of an argument.
#[derive(Clone, Debug)]
pub(super) enum ArgumentValues {
    /// Those of a pool, by its index.
    Pool(usize),
    /// These expressions, written into the action.
    Choice(Vec<String>),
}

/// A pool of values.
pub(super) struct DraftPool {
    /// Its name.
    pub(super) name: String,
    /// The number of its slots.
    pub(super) size: usize,
    /// The kinds of its values.
    pub(super) kinds: Vec<SampleKind>,
    /// The number of recorded values.
    pub(super) recorded_count: usize,
    /// The number of hinted values.
    pub(super) hinted: usize,
    /// The number of values that are left out.
    pub(super) left_out_count: usize,
    /// True if an active action uses it.
    pub(super) is_active: bool,
    /// The values.
    pub(super) entries: Vec<PoolEntry>,
}

/// A value of a pool.
pub(super) struct PoolEntry {
    /// The whole value.
    pub(super) one_line: String,
    /// The expression in the harness.
    pub(super) expression: String,
    /// Python code that defines it, if it does not fit on a line.
    pub(super) definition: Vec<String>,
}

/// Returns the expression for a value that is defined in Python code, and that code.
fn define_value(
    sample: &Sample,
    name: &str,
    taken: &mut BTreeSet<String>,
) -> (String, Vec<String>) {
    if let Some(function) = sample.defined_function()
        && taken.insert(function.clone())
    {
        return (function, sample.setup_lines.clone());
    }
    let mut free = |wanted: String| {
        let mut number = 1;
        let mut name = format!("{wanted}_{number}");
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
    };
    if !sample.setup_lines.is_empty() {
        let maker = free(format!("make_{name}"));
        let mut lines = vec![format!("def {maker}():")];
        let before = sample.setup_lines.iter();
        lines.extend(before.map(|line| format!("    {line}").trim_end().to_owned()));
        lines.extend(sample.code.lines("return ", "", 4));
        return (format!("{maker}()"), lines);
    }
    let constant = free(name.to_uppercase());
    let lines = sample.code.lines(&format!("{constant} = "), "", 0);
    if sample.kind.can_change() {
        (format!("copy.deepcopy({constant})"), lines)
    } else {
        (constant, lines)
    }
}

/// Converts a text to the name of a pool. A digit at its end would read as the number of a slot.
pub(super) fn pool_name(wanted: &str) -> String {
    let name = snake_case(wanted);
    let name = name.trim_matches('_');
    match name.chars().last() {
        None => "value".to_owned(),
        Some(last) if last.is_ascii_digit() => format!("{name}_value"),
        Some(_) => name.to_owned(),
    }
}

/// Returns a name that is not taken, derived from `wanted`.
pub(super) fn free_name(wanted: &str, names: &mut BTreeSet<String>) -> String {
    let mut name = wanted.to_owned();
    let mut ending = String::from("_value");
    while !names.insert(name.clone()) {
        name = format!("{wanted}{ending}");
        ending.push_str("_more");
    }
    name
}
