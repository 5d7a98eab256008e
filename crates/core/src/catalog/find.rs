//! Finding actions by their text, without writing out the catalog.
//!
//! A text is matched against the pieces of each template, from left to right. After each piece
//! there is a set of positions in the text where the next piece may begin: one after literal text,
//! several after a hole whose alternatives are prefixes of each other (`int1`, `int12`). Nearly all
//! templates drop out at their first piece. For those that reach the end of the text, the matches
//! are followed backwards. Each complete match is an action, or several if an axis does not show in
//! the text.
//!
//! The position sets keep this polynomial however the alternatives overlap. An axis that shows
//! twice must have the same value both times; that is solved by backtracking with a budget.

use super::{ActionId, Axis, Catalog, ChoiceValues, SlotPool, Template, TemplateId, TemplatePiece};

/// The maximum number of actions listed for one text. A text with more matches is too vague anyway.
const MAX_FOUND: usize = 1 << 16;

/// The maximum number of backtracking steps in one template.
const MAX_STEPS: usize = 1 << 20;

/// The maximum number of `#` in a text that are tried as the beginning of a comment.
const MAX_COMMENTS: usize = 16;

impl Catalog {
    /// Finds all distinct actions with this text, in order. Of the equal copies made by `*N`, only
    /// the first is listed.
    ///
    /// Several actions may share a text: lines that differ only in their guard, or a guard with slots that the
    /// statement does not name. [`Catalog::label`] tells them apart, and finding a label gives that one alone.
    ///
    /// If no action has exactly this text, the search is lenient: runs of blanks count as one, a `#
    /// comment` at the end is ignored, slots may be written `self.p_avl[1]`, and what TSTL adds for
    /// a comparison (`result = ` before, or ` ; result = …` after) is left out.
    ///
    /// At most 65,536 actions are listed.
    pub fn find(&self, text: &str) -> Vec<ActionId> {
        let found = self.find_exactly(text);
        if !found.is_empty() {
            return found;
        }
        let text = TextQuery::lenient(text);
        let found = self.find_without_comment(&text.text);
        if !found.is_empty() {
            return found;
        }
        if let Some(rest) = text.text.strip_prefix("result = ") {
            let found = self.find_without_comment(rest);
            if !found.is_empty() {
                return found;
            }
        }
        match text.text.rfind("; result = ") {
            Some(end) => self.find_without_comment(&text.text[..end]),
            None => Vec::new(),
        }
    }

    /// Returns the text of an action, followed by ` #2` or the like if it is the second of several
    /// with that text.
    ///
    /// Finding a label gives exactly that action (the first of its `*N` copies). The only
    /// exception: where so many actions share a text that [`Catalog::find`] does not list them all,
    /// the unlisted ones have the bare text as label.
    pub fn label(&self, action: ActionId) -> String {
        let text = self.text(action);
        let alike = self.find_matches(&TextQuery::exact(&text));
        if alike.len() < 2 {
            return text;
        }
        let action = self.first_copy(action);
        let Some(position) = alike.iter().position(|other| *other == action) else {
            return text;
        };
        let mut number = (position + 1).to_string();
        loop {
            let label = format!("{text}  #{number}");
            // If the harness has an action that reads like this label, change the label.
            if self.find_matches(&TextQuery::exact(&label)).is_empty() {
                return label;
            }
            number.insert(0, '0');
        }
    }

    /// Finds the actions that have exactly this text or label, ignoring blanks around it.
    pub(crate) fn find_exactly(&self, text: &str) -> Vec<ActionId> {
        let found = self.find_matches(&TextQuery::exact(text));
        if !found.is_empty() {
            return found;
        }
        self.find_label(text, TextQuery::exact)
    }

    /// Finds the action of a label, with its text matched as `query` decides.
    fn find_label(&self, label: &str, to_query: fn(&str) -> TextQuery) -> Vec<ActionId> {
        let Some((text, number)) = label.rsplit_once('#') else {
            return Vec::new();
        };
        let Ok(position) = number.trim_end().parse::<usize>() else {
            return Vec::new();
        };
        let alike = self.find_matches(&to_query(text));
        match position
            .checked_sub(1)
            .and_then(|position| alike.get(position))
        {
            Some(action) if alike.len() > 1 => vec![*action],
            _ => Vec::new(),
        }
    }

    /// Finds the actions of a text that may end in a comment. The comment may contain `#` itself.
    fn find_without_comment(&self, text: &str) -> Vec<ActionId> {
        let ends = text.rmatch_indices('#').map(|(end, _)| end);
        for end in std::iter::once(text.len()).chain(ends.take(MAX_COMMENTS)) {
            let mut found = self.find_matches(&TextQuery::lenient(&text[..end]));
            if found.is_empty() {
                found = self.find_label(&text[..end], TextQuery::lenient);
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Finds the actions of all templates that match a text.
    fn find_matches(&self, query: &TextQuery) -> Vec<ActionId> {
        let mut found = Vec::new();
        for (number, template) in self.templates.iter().enumerate() {
            let template_id = TemplateId(number);
            if self.count(template_id) > 0 && found.len() < MAX_FOUND {
                let begin = found.len();
                if let Some(template_matches) = TemplateMatches::find(query, template, &self.pools)
                {
                    self.collect(template_id, &template_matches, &mut found);
                }
                found[begin..].sort_unstable();
            }
        }
        found.dedup();
        found
    }

    /// Follows the matches of one template backwards and lists their actions.
    fn collect(
        &self,
        template_id: TemplateId,
        template_matches: &TemplateMatches,
        found: &mut Vec<ActionId>,
    ) {
        let template = &self.templates[template_id.0];
        let mut chosen: Vec<Option<u64>> = vec![None; template.axes.len()];
        // For each piece from the last on: where it ends, the next match to try, and the axis it
        // has set.
        let mut path: Vec<(usize, usize, Option<usize>)> = vec![(template_matches.end, 0, None)];
        let mut steps = 0;
        loop {
            let depth = path.len();
            let Some((end, piece_match, set)) = path.last_mut() else {
                return;
            };
            if let Some(axis) = set.take() {
                chosen[axis] = None;
            }
            let piece = template_matches.piece_matches.len() - depth;
            let piece_matches = &template_matches.piece_matches[piece];
            let first = piece_matches.partition_point(|other| other.to < *end);
            let next = first.max(*piece_match);
            steps += 1;
            if steps > MAX_STEPS || piece_matches.get(next).is_none_or(|next| next.to != *end) {
                path.pop();
                continue;
            }
            *piece_match = next + 1;
            let taken = &piece_matches[next];
            if let Some((axis, value)) = taken.choice {
                match chosen[axis] {
                    Some(other) if other != value => continue,
                    Some(_) => {}
                    None => {
                        chosen[axis] = Some(value);
                        *set = Some(axis);
                    }
                }
            }
            if piece > 0 {
                path.push((taken.from, 0, None));
            } else {
                self.collect_hidden(template_id, &chosen, found);
                if found.len() >= MAX_FOUND {
                    return;
                }
            }
        }
    }

    /// Lists the actions with these choices and any choice on the axes that the text does not show.
    fn collect_hidden(
        &self,
        template_id: TemplateId,
        chosen: &[Option<u64>],
        found: &mut Vec<ActionId>,
    ) {
        let axes = &self.templates[template_id.0].axes;
        let sizes = self.sizes(template_id);
        let is_free =
            |axis: usize| chosen[axis].is_none() && !matches!(axes[axis], Axis::Repeat(_));
        let mut values: Vec<u64> = chosen.iter().map(|value| value.unwrap_or(0)).collect();
        while found.len() < MAX_FOUND {
            found.push(self.action(template_id, &values));
            // Count on, the last axis fastest.
            let next = (0..axes.len()).rev().find(|axis| {
                if !is_free(*axis) {
                    return false;
                }
                values[*axis] += 1;
                if values[*axis] == sizes[*axis] {
                    values[*axis] = 0;
                    return false;
                }
                true
            });
            if next.is_none() {
                return;
            }
        }
    }
}

/// A text to find, without blanks around it.
struct TextQuery {
    text: String,
    /// True if runs of blanks count as one and slots may have TSTL's names.
    lenient: bool,
}

impl TextQuery {
    /// Creates a text that must match exactly.
    fn exact(text: &str) -> TextQuery {
        TextQuery {
            text: text.trim().to_owned(),
            lenient: false,
        }
    }

    /// Creates a text that is matched leniently.
    fn lenient(text: &str) -> TextQuery {
        let words: Vec<&str> = text.split_whitespace().collect();
        TextQuery {
            text: words.join(" "),
            lenient: true,
        }
    }

    /// Returns the end of a literal that begins at `at`, or `None` if it does not match. Blanks at
    /// either end of the whole text are ignored.
    fn skip_literal(&self, literal: &str, mut at: usize) -> Option<usize> {
        for wanted in literal.chars() {
            let found = self.text[at..].chars().next();
            if wanted.is_whitespace() {
                let after_blank = self.lenient && self.text[..at].ends_with(' ');
                if at == 0 || found.is_none() || after_blank {
                    continue;
                }
                if self.lenient && found == Some(' ') {
                    at += 1;
                    continue;
                }
            }
            if found != Some(wanted) {
                return None;
            }
            at += wanted.len_utf8();
        }
        Some(at)
    }

    /// Calls `each` with every number that can be read at `at`, and where it ends: `1` and `12` of `12)`.
    fn match_numbers(&self, at: usize, mut each: impl FnMut(i64, usize)) {
        let rest = &self.text.as_bytes()[at..];
        let sign = usize::from(rest.first() == Some(&b'-'));
        let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit());
        // No number in a catalog has more digits.
        let digits = digits.count().min(19);
        let starts_with_zero = rest.get(sign) == Some(&b'0');
        for length in 1..=digits {
            if starts_with_zero && (length > 1 || sign > 0) {
                return;
            }
            let end = at + sign + length;
            if let Ok(number) = self.text[at..end].parse() {
                each(number, end);
            }
        }
    }

    /// Calls `each` with every slot of a pool that can be read at `at`, and where its name ends.
    fn match_slots(
        &self,
        pool: &SlotPool,
        twin: bool,
        at: usize,
        each: &mut dyn FnMut(u64, usize),
    ) {
        let mut number = |number: i64, end: usize, close: &str| match u64::try_from(number) {
            Ok(slot) if slot < u64::from(pool.size) && self.text[end..].starts_with(close) => {
                each(slot, end + close.len())
            }
            _ => {}
        };
        let rest = &self.text[at..];
        let separator = if twin {
            "_REF"
        } else if pool.name.ends_with(|last: char| last.is_ascii_digit()) {
            "_"
        } else {
            ""
        };
        let pretty = rest
            .strip_prefix(pool.name.as_str())
            .and_then(|rest| rest.strip_prefix(separator));
        if let Some(after) = pretty {
            self.match_numbers(self.text.len() - after.len(), |slot, end| {
                number(slot, end, "")
            });
        }
        if self.lenient {
            let access = rest
                .strip_prefix("self.p_")
                .and_then(|rest| rest.strip_prefix(pool.name.as_str()))
                .and_then(|rest| rest.strip_prefix(if twin { "_REF" } else { "" }))
                .and_then(|rest| rest.strip_prefix('['));
            if let Some(after) = access {
                self.match_numbers(self.text.len() - after.len(), |slot, end| {
                    number(slot, end, "]")
                });
            }
        }
    }

    /// Calls `each` with every alternative of a choice that can be read at `at`, and where it ends.
    fn match_alternatives(
        &self,
        choice: &ChoiceValues,
        at: usize,
        each: &mut dyn FnMut(u64, usize),
    ) {
        match choice {
            ChoiceValues::Integers { first, last } => self.match_numbers(at, |number, end| {
                if (*first..=*last).contains(&number) {
                    each(number.abs_diff(*first), end);
                }
            }),
            ChoiceValues::Characters { first, last } => {
                let mut characters = self.text[at..].chars();
                let quoted = (characters.next(), characters.next(), characters.next());
                if let (Some('\''), Some(character), Some('\'')) = quoted
                    && (*first..=*last).contains(&character)
                {
                    let position = (*first..character).count() as u64;
                    each(position, at + 2 + character.len_utf8());
                }
            }
            ChoiceValues::Texts(texts) => {
                for (position, text) in texts.iter().enumerate() {
                    if let Some(end) = self.skip_literal(text, at) {
                        each(position as u64, end);
                    }
                }
            }
        }
    }
}

/// One match of one piece.
struct PieceMatch {
    from: usize,
    to: usize,
    /// The axis and the choice on it.
    choice: Option<(usize, u64)>,
}

/// All matches of a text with the pieces of a template.
struct TemplateMatches {
    /// By piece: its matches at the positions that earlier pieces lead to, sorted by their ends.
    piece_matches: Vec<Vec<PieceMatch>>,
    end: usize,
}

impl TemplateMatches {
    /// Matches a text with a template; `None` if it does not match.
    fn find(query: &TextQuery, template: &Template, pools: &[SlotPool]) -> Option<TemplateMatches> {
        let mut piece_matches: Vec<Vec<PieceMatch>> = Vec::new();
        let mut positions = vec![0];
        // A template without pieces has the empty text, which an empty piece has too.
        let nothing = [TemplatePiece::Text(String::new())];
        let pieces = match template.pieces.as_slice() {
            [] => nothing.as_slice(),
            pieces => pieces,
        };
        for piece in pieces {
            let mut read = Vec::new();
            for from in positions {
                let mut push = |to, choice| read.push(PieceMatch { from, to, choice });
                match piece {
                    TemplatePiece::Text(literal) => {
                        if let Some(to) = query.skip_literal(literal, from) {
                            push(to, None);
                        }
                    }
                    TemplatePiece::Hole(axis) | TemplatePiece::Twin(axis) => {
                        let twin = matches!(piece, TemplatePiece::Twin(_));
                        let mut chosen = |value, to| push(to, Some((*axis, value)));
                        match template.axes.get(*axis) {
                            Some(Axis::Slot { pool, .. }) => {
                                query.match_slots(&pools[pool.0], twin, from, &mut chosen)
                            }
                            Some(Axis::Choice(choice)) if !twin => {
                                query.match_alternatives(choice, from, &mut chosen)
                            }
                            _ => push(from, None),
                        }
                    }
                }
            }
            if read.is_empty() {
                return None;
            }
            read.sort_by_key(|piece_match| piece_match.to);
            positions = read.iter().map(|piece_match| piece_match.to).collect();
            positions.dedup();
            piece_matches.push(read);
        }
        let end = query.text.len();
        positions
            .contains(&end)
            .then_some(TemplateMatches { piece_matches, end })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Axis, Catalog, ChoiceValues, PoolId, SlotPool, SlotRole, Template, TemplatePiece,
    };
    use super::ActionId;
    use crate::toys;

    fn ids(ids: &[u64]) -> Vec<ActionId> {
        ids.iter().copied().map(ActionId).collect()
    }

    fn avl() -> Catalog {
        toys::catalog(
            &[("int", 20), ("avl", 2), ("c1", 11)],
            &[
                "<int> := <[-3..12]>",
                "<avl>.insert(<int>)",
                "<c1> := <avl>.find(<int>)",
                "v = <c1>.get(); print(v)",
            ],
        )
    }

    fn check(catalog: &Catalog, line: &str, text: &str) {
        let found = catalog.find(line);
        let texts: Vec<String> = found.iter().map(|action| catalog.text(*action)).collect();
        assert_eq!(texts, [text], "for {line:?}");
    }

    #[test]
    fn every_text_leads_back_to_its_action() {
        let catalog = avl();
        for action in (0..catalog.len()).map(ActionId) {
            assert_eq!(catalog.find(&catalog.text(action)), [action]);
            assert_eq!(catalog.label(action), catalog.text(action));
        }
    }

    #[test]
    fn unknown_texts_find_no_action() {
        let catalog = avl();
        for text in [
            "",
            "#",
            "int20 = 1",
            "int0 = 13",
            "int00 = 1",
            "int0 = 01",
            "int0 = -0",
            "int0 = -",
            "int-1 = 1",
            "avl0.insert(int0",
            "avl0.insert(int0))",
            "self.p_int[0 = 1",
            "self.p_int[20] = 1",
            "c10 = avl0.find(int0)",
            "result = ",
            "; result = ",
            "int99999999999999999999999 = 1",
            "ä",
        ] {
            assert_eq!(catalog.find(text), [], "for {text:?}");
        }
    }

    #[test]
    fn reading_is_lenient() {
        let catalog = avl();
        check(&catalog, "  int12   =  -3 \t", "int12 = -3");
        check(&catalog, "self.p_int[0] = 12 ", "int0 = 12");
        check(
            &catalog,
            "self.p_avl[1].insert(int19)",
            "avl1.insert(int19)",
        );
        check(
            &catalog,
            "avl1.insert(int0) # a #2 comment",
            "avl1.insert(int0)",
        );
        check(
            &catalog,
            "self.p_c1[10] = self.p_avl[0].find(self.p_int[1])  ",
            "c1_10 = avl0.find(int1)",
        );
        check(
            &catalog,
            "result = self.p_avl[1].insert(self.p_int[0]) ",
            "avl1.insert(int0)",
        );
        check(
            &catalog,
            "v = self.p_c1[0].get(); print(v) ; result = v ",
            "v = c1_0.get(); print(v)",
        );
    }

    #[test]
    fn an_exact_reading_comes_before_a_lenient_one() {
        let catalog = toys::catalog(
            &[],
            &[
                "say('a  b')",
                "say('a b')",
                "result = f()",
                "f()",
                "f() # twice",
            ],
        );
        for action in (0..catalog.len()).map(ActionId) {
            assert_eq!(catalog.find(&catalog.text(action)), [action]);
        }
        assert_eq!(catalog.find("say('a   b')"), ids(&[0, 1]));
        assert_eq!(catalog.find("result = f() # thrice"), ids(&[2]));
    }

    #[test]
    fn actions_with_the_same_text_have_labels() {
        let catalog = toys::catalog(
            &[("x", 2), ("y", 2)],
            &["f(<y>)", "<x> > 0 -> f(<y>)", "*3 g()", "*2 <x> -> h()"],
        );
        assert_eq!(catalog.find("f(y1)"), ids(&[1, 3, 5]));
        assert_eq!(catalog.label(ActionId(1)), "f(y1)  #1");
        assert_eq!(catalog.label(ActionId(5)), "f(y1)  #3");
        assert_eq!(catalog.find("f(y1)  #3"), ids(&[5]));
        assert_eq!(catalog.find("f(self.p_y[1])   #3 "), ids(&[5]));
        assert_eq!(catalog.find("f(y1)  #3  # the third"), ids(&[5]));
        // A number that no action has is a comment.
        assert_eq!(catalog.find("f(y1)  #4"), ids(&[1, 3, 5]));
        assert_eq!(catalog.find("f(y1)  #0"), ids(&[1, 3, 5]));
        // Copies are one action.
        assert_eq!(catalog.find("g()"), ids(&[6]));
        assert_eq!(catalog.label(ActionId(8)), "g()");
        assert_eq!(catalog.find("h()"), ids(&[9, 10]));
        assert_eq!(catalog.label(ActionId(12)), "h()  #2");
        assert_eq!(catalog.find("h()  #2"), ids(&[10]));
    }

    #[test]
    fn a_label_gives_way_to_a_text_that_reads_like_it() {
        let catalog = toys::catalog(&[], &["f()", "f()", "f()  #2"]);
        assert_eq!(catalog.label(ActionId(1)), "f()  #02");
        for action in (0..3).map(ActionId) {
            assert_eq!(catalog.find(&catalog.label(action)), [action]);
        }
    }

    fn slot(pool: usize) -> Axis {
        Axis::Slot {
            pool: PoolId(pool),
            role: SlotRole::Use,
        }
    }

    fn single(pools: &[(&str, u32)], pieces: Vec<TemplatePiece>, axes: Vec<Axis>) -> Catalog {
        let pool = |(name, size): &(&str, u32)| SlotPool {
            name: (*name).to_owned(),
            size: *size,
        };
        let template = Template {
            class: String::new(),
            line: 1,
            pieces,
            axes,
        };
        Catalog::new(pools.iter().map(pool).collect(), vec![template]).unwrap()
    }

    #[test]
    fn a_slot_that_shows_twice_is_the_same_both_times() {
        let comma = || TemplatePiece::Text(", ".to_owned());
        let pieces = vec![
            TemplatePiece::Hole(0),
            comma(),
            TemplatePiece::Twin(0),
            comma(),
            TemplatePiece::Hole(0),
        ];
        let catalog = single(&[("c", 12)], pieces, vec![slot(0)]);
        check(&catalog, "c11, c_REF11, c11", "c11, c_REF11, c11");
        check(
            &catalog,
            "self.p_c[1], self.p_c_REF[1], c1",
            "c1, c_REF1, c1",
        );
        assert_eq!(catalog.find("c11, c_REF1, c11"), []);
        assert_eq!(catalog.find("c11, c_REF11, c1"), []);
    }

    #[test]
    fn all_ways_to_read_a_text_are_found() {
        let numbers = || {
            Axis::Choice(ChoiceValues::Integers {
                first: -1,
                last: 99,
            })
        };
        let pieces = vec![TemplatePiece::Hole(1), TemplatePiece::Hole(0)];
        let catalog = single(&[], pieces, vec![numbers(), numbers()]);
        for text in ["111", "12", "1-1", "99"] {
            let expected: Vec<ActionId> = (0..catalog.len())
                .map(ActionId)
                .filter(|action| catalog.text(*action) == text)
                .collect();
            assert_eq!(catalog.find(text), expected);
            for action in expected {
                assert_eq!(catalog.find(&catalog.label(action)), [action]);
            }
        }
    }

    #[test]
    fn characters_and_blank_alternatives_are_read() {
        let characters = Axis::Choice(ChoiceValues::Characters {
            first: ' ',
            last: 'ÿ',
        });
        let catalog = single(
            &[],
            vec![
                TemplatePiece::Text("say ".to_owned()),
                TemplatePiece::Hole(0),
            ],
            vec![characters],
        );
        for action in (0..catalog.len()).map(ActionId) {
            assert_eq!(catalog.find(&catalog.text(action)), [action]);
        }
        let texts = ["", " ", "a ", " a", "a  b"].map(str::to_owned).to_vec();
        let choice = || Axis::Choice(ChoiceValues::Texts(texts.clone()));
        let catalog = single(
            &[],
            vec![
                TemplatePiece::Hole(0),
                TemplatePiece::Text(" ".to_owned()),
                TemplatePiece::Hole(1),
            ],
            vec![choice(), choice()],
        );
        for action in (0..catalog.len()).map(ActionId) {
            let text = catalog.text(action);
            let alike = (0..catalog.len())
                .map(ActionId)
                .filter(|other| catalog.text(*other) == text);
            assert_eq!(catalog.find(&text), alike.collect::<Vec<_>>());
            assert_eq!(catalog.find(&catalog.label(action)), [action]);
        }
    }

    #[test]
    fn overlapping_alternatives_do_not_explode() {
        let overlapping = || {
            let texts = (1..6).map(|length| "1".repeat(length)).collect();
            Axis::Choice(ChoiceValues::Texts(texts))
        };
        // Nothing matches, and there are very many combinations to reject.
        let mut pieces: Vec<TemplatePiece> = (0..20).map(TemplatePiece::Hole).collect();
        let axes: Vec<Axis> = (0..20).map(|_| overlapping()).collect();
        let text = "1".repeat(50);
        let catalog = single(&[], pieces.clone(), axes.clone());
        assert_eq!(catalog.find(&format!("{text}2")), []);
        // Everything matches: the list is cut at the maximum.
        assert_eq!(catalog.find(&text).len(), super::MAX_FOUND);
        // With the same choices once more in reverse, no budget suffices; the search must end
        // anyway.
        pieces.extend((0..20).rev().map(TemplatePiece::Hole));
        let catalog = single(&[], pieces, axes);
        catalog.find(&"1".repeat(99));
    }

    #[test]
    fn a_large_catalogue_costs_no_more_than_a_small_one() {
        let catalog = toys::catalog(
            &[("int", 1000), ("avl", 1000)],
            &[
                "<int> := <[1..1000000]>",
                "<avl>.insert(<int>, <int>)",
                "<avl> == <avl> -> f()",
            ],
        );
        assert_eq!(catalog.len(), 2_001_000_000);
        for action in [0, 999_999_999, 1_234_567_890, 1_999_999_999].map(ActionId) {
            assert_eq!(catalog.find(&catalog.text(action)), [action]);
            assert_eq!(catalog.find(&catalog.label(action)), [action]);
        }
    }
}
