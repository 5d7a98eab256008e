//! English words and their forms: the words of identifiers, plurals, verbs, articles, sentences and
//! numbers (rules W1 to W8 of `docs/readable-rules.md#words`).

/// Returns the words of an identifier (W1: it is split at underscores and capitals; W2: words are
/// in small letters). `usersLoggedIn` is "users logged in", `AVLTree` is "AVL tree".
#[must_use]
pub fn humanise(identifier: &str) -> String {
    if identifier.chars().count() == 1 && identifier != "_" {
        return identifier.to_owned();
    }
    let words: Vec<String> = split_identifier(identifier)
        .iter()
        .map(|word| lowercase_word(word))
        .collect();
    if words.is_empty() {
        // Python programmers call a thing `_` if its name does not matter.
        return "item".to_owned();
    }
    words.join(" ")
}

/// Splits an identifier into words (W1: at underscores, and before capitals that begin a word).
fn split_identifier(identifier: &str) -> Vec<String> {
    let characters: Vec<char> = identifier.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (index, &character) in characters.iter().enumerate() {
        if character == '_' || character.is_whitespace() {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| characters.get(index));
        let after = characters.get(index + 1);
        if character.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_numeric()
                    || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
            })
        {
            words.push(std::mem::take(&mut word));
        }
        word.push(character);
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Writes a word in small letters (W2: abbreviations stay as they are).
fn lowercase_word(word: &str) -> String {
    let letters = word.chars().filter(|character| character.is_alphabetic());
    let is_abbreviation = letters.clone().count() >= 2 && letters.clone().all(char::is_uppercase);
    if is_abbreviation {
        word.to_owned()
    } else {
        word.to_lowercase()
    }
}

/// Prepositions that end the noun of a phrase (W4).
const PREPOSITIONS: [&str; 11] = [
    "of", "in", "per", "for", "by", "to", "with", "from", "at", "on", "out",
];
/// Singular words that end in "s" (W4).
const NOT_PLURAL: [&str; 8] = [
    "news", "series", "lens", "gas", "bus", "plus", "alias", "class",
];

/// Returns true if a word is a preposition, such as "in".
pub(crate) fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.contains(&word)
}

/// Returns true if words name several things (W4: the noun before the first preposition decides).
/// "Users logged in" are several, "status" is one.
#[must_use]
pub fn is_plural(words: &str) -> bool {
    let all: Vec<&str> = words.split_whitespace().collect();
    let preposition = all.iter().position(|word| PREPOSITIONS.contains(word));
    let mut head = match preposition {
        Some(0) | None => all.as_slice(),
        Some(end) => &all[..end],
    };
    while let [before @ .., last] = head {
        if before.is_empty() || !(last.ends_with("ed") || last.ends_with("ing")) {
            break;
        }
        head = before;
    }
    head.last().is_some_and(|word| {
        word.chars().filter(|letter| letter.is_alphabetic()).count() >= 3
            && word.ends_with('s')
            && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
            && !NOT_PLURAL.contains(word)
    })
}

/// The time of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tense {
    /// "is", "has".
    #[default]
    Present,
    /// "was", "had".
    Past,
}

/// The affirmative or the negative form of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Polarity {
    /// "is", "has".
    #[default]
    Positive,
    /// "is not", "does not have".
    Negative,
}

impl Polarity {
    /// Returns the opposite polarity.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Positive => Self::Negative,
            Self::Negative => Self::Positive,
        }
    }
}

/// The verbs of all fixed wording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is its verb")]
pub enum Verb {
    Be,
    Have,
    Become,
    Go,
    Equal,
    Switch,
    Contain,
    Hold,
    Start,
    End,
    Give,
    Can,
}

impl Verb {
    /// All verbs, in the order in which a text is searched for them.
    const ALL: [Self; 12] = [
        Self::Be,
        Self::Have,
        Self::Become,
        Self::Go,
        Self::Equal,
        Self::Switch,
        Self::Contain,
        Self::Hold,
        Self::Start,
        Self::End,
        Self::Give,
        Self::Can,
    ];

    /// Returns the form of the verb for a subject (W5: verbs agree in number and have a past form):
    /// "is", "are not", "did not equal".
    #[must_use]
    pub fn conjugate(self, plural: bool, polarity: Polarity, tense: Tense) -> &'static str {
        use Polarity::{Negative, Positive};
        use Tense::{Past, Present};
        let [singular, base, past] = self.forms();
        match (self, polarity, tense) {
            (Self::Be, Positive, Past) if plural => "were",
            (Self::Be, Negative, Present) if plural => "are not",
            (Self::Be, Negative, Present) => "is not",
            (Self::Be, Negative, Past) if plural => "were not",
            (Self::Be, Negative, Past) => "was not",
            (Self::Can, Negative, Present) => "cannot",
            (Self::Can, Negative, Past) => "could not",
            (_, Positive, Past) => past,
            (_, Positive, Present) if plural => base,
            (_, Positive, Present) => singular,
            (_, Negative, tense) => self.with_do(plural, tense),
        }
    }

    /// Returns the singular, plural and past forms.
    fn forms(self) -> [&'static str; 3] {
        match self {
            Self::Be => ["is", "are", "was"],
            Self::Have => ["has", "have", "had"],
            Self::Become => ["becomes", "become", "became"],
            Self::Go => ["goes", "go", "went"],
            Self::Equal => ["equals", "equal", "equalled"],
            Self::Switch => ["switches", "switch", "switched"],
            Self::Contain => ["contains", "contain", "contained"],
            Self::Hold => ["holds", "hold", "held"],
            Self::Start => ["starts", "start", "started"],
            Self::End => ["ends", "end", "ended"],
            Self::Give => ["gives", "give", "gave"],
            Self::Can => ["can", "can", "could"],
        }
    }

    /// Returns the negative form with "do not", "does not" or "did not".
    fn with_do(self, plural: bool, tense: Tense) -> &'static str {
        macro_rules! negative {
            ($base:literal) => {
                match (plural, tense) {
                    (_, Tense::Past) => concat!("did not ", $base),
                    (true, Tense::Present) => concat!("do not ", $base),
                    (false, Tense::Present) => concat!("does not ", $base),
                }
            };
        }
        match self {
            Self::Be => negative!("be"),
            Self::Have => negative!("have"),
            Self::Become => negative!("become"),
            Self::Go => negative!("go"),
            Self::Equal => negative!("equal"),
            Self::Switch => negative!("switch"),
            Self::Contain => negative!("contain"),
            Self::Hold => negative!("hold"),
            Self::Start => negative!("start"),
            Self::End => negative!("end"),
            Self::Give => negative!("give"),
            Self::Can => negative!("can"),
        }
    }

    /// Finds the verb that a text begins with in its singular present form. Returns the verb, its
    /// polarity and the rest of the text. Idioms are written that way, so their verbs can agree
    /// with any subject.
    #[must_use]
    pub fn parse_start(text: &str) -> Option<(Self, Polarity, &str)> {
        for polarity in [Polarity::Negative, Polarity::Positive] {
            for verb in Self::ALL {
                let form = verb.conjugate(false, polarity, Tense::Present);
                if let Some(rest) = text.strip_prefix(form)
                    && (rest.is_empty() || rest.starts_with([' ', ',', '.']))
                {
                    return Some((verb, polarity, rest));
                }
            }
        }
        None
    }
}

/// Puts "a" or "an" before words (W6: "an" before a vowel).
#[must_use]
pub fn with_article(words: &str) -> String {
    let article = match words.chars().next() {
        Some(first) if "aeiouAEIOU".contains(first) => "an",
        _ => "a",
    };
    format!("{article} {words}")
}

/// Puts "a" or "an" before words, or "some" if they are plural: "some values", not "a values".
#[must_use]
pub fn with_article_or_some(words: &str) -> String {
    if is_plural(words) {
        format!("some {words}")
    } else {
        with_article(words)
    }
}

/// Capitalizes the first letter (W7: sentences, names and titles begin with a capital).
#[must_use]
pub fn capitalise(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// Adds a capital and a full stop (W7).
#[must_use]
pub fn to_sentence(text: &str) -> String {
    let mut sentence = capitalise(text);
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

/// Number words for differences (W8).
const CARDINALS: [&str; 11] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
];
/// Ordinal words (W8).
const ORDINALS: [&str; 10] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
];

/// Returns an ordinal number: "first" for 1, "11th" for 11 (W8: words up to tenth).
#[must_use]
pub fn ordinal(number: u64) -> String {
    let word = usize::try_from(number)
        .ok()
        .and_then(|number| ORDINALS.get(number.checked_sub(1)?));
    if let Some(word) = word {
        return (*word).to_owned();
    }
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Returns a number as differences write it (W8: a word up to ten, digits beyond).
#[must_use]
pub fn cardinal(number: u64) -> String {
    usize::try_from(number)
        .ok()
        .and_then(|number| CARDINALS.get(number))
        .map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// Returns the plural of a noun: "whole numbers", "dictionaries".
#[must_use]
pub fn pluralise(noun: &str) -> String {
    let stem_of_y = noun
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    if let Some(stem) = stem_of_y {
        return format!("{stem}ies");
    }
    if ["s", "x", "z", "ch", "sh"]
        .iter()
        .any(|end| noun.ends_with(end))
    {
        return format!("{noun}es");
    }
    format!("{noun}s")
}

/// Returns true if words are a question or a statement rather than a name: "is open", "has key".
#[must_use]
pub fn begins_with_verb(words: &str) -> bool {
    let verbs = [
        "is", "are", "was", "were", "has", "have", "had", "can", "could", "may", "might", "must",
        "should", "will", "would", "does", "did", "needs",
    ];
    let mut parts = words.split(' ');
    let first = parts.next().unwrap_or_default();
    verbs.contains(&first) && parts.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r3_a_flag_that_is_called_by_a_sentence() {
        for words in ["is open", "has key", "can fly"] {
            assert!(begins_with_verb(words), "{words}");
        }
        for words in ["open", "island open", "is", "must"] {
            assert!(!begins_with_verb(words), "{words}");
        }
    }

    #[test]
    fn w1_identifiers_are_split_into_words() {
        assert_eq!(humanise("usersLoggedIn"), "users logged in");
        assert_eq!(humanise("AVLTree"), "AVL tree");
        assert_eq!(humanise("pop_min"), "pop min");
        assert_eq!(humanise("__contains__"), "contains");
        assert_eq!(humanise("_private_name"), "private name");
        assert_eq!(humanise("base64Encode"), "base64 encode");
        assert_eq!(humanise("HTTPServer"), "HTTP server");
        assert_eq!(humanise("tree0"), "tree0");
        assert_eq!(humanise("AClass"), "a class");
        assert_eq!(humanise("a__b"), "a b");
    }

    #[test]
    fn w2_words_are_lower_case_but_abbreviations_are_not() {
        assert_eq!(humanise("InsufficientFunds"), "insufficient funds");
        assert_eq!(humanise("MAX_SIZE"), "MAX SIZE");
        assert_eq!(humanise("parseURL"), "parse URL");
        assert_eq!(humanise("X"), "X");
        assert_eq!(humanise("n"), "n");
        assert_eq!(humanise("max_X"), "max x");
        assert_eq!(humanise("_"), "item");
        assert_eq!(humanise("ÄpfelTotal"), "äpfel total");
    }

    #[test]
    fn w4_plural_test() {
        for plural in [
            "pids",
            "regs",
            "users logged in",
            "plates",
            "known processes",
            "stopped processes",
            "numbers of users",
            "items waiting",
            "names given",
            "values for users",
        ] {
            let expected = plural != "names given";
            assert_eq!(is_plural(plural), expected, "{plural}");
        }
        for singular in [
            "stack",
            "status",
            "address",
            "analysis",
            "news",
            "series",
            "alias",
            "class",
            "s",
            "xs",
            "number of users",
            "dead",
            "waiting",
            "bus",
            "list of names",
            "is",
            "DNS",
            "",
        ] {
            assert!(!is_plural(singular), "{singular}");
        }
        // Nothing is left before the preposition, so all words count.
        assert!(is_plural("in boxes"));
        assert!(!is_plural("out of stock"));
    }

    #[test]
    fn w5_verbs_agree_with_their_subject() {
        use Polarity::{Negative, Positive};
        use Tense::{Past, Present};
        let form = |verb: Verb, plural, polarity, tense| verb.conjugate(plural, polarity, tense);
        assert_eq!(form(Verb::Be, false, Positive, Present), "is");
        assert_eq!(form(Verb::Be, true, Negative, Present), "are not");
        assert_eq!(form(Verb::Be, true, Positive, Past), "were");
        assert_eq!(form(Verb::Be, false, Negative, Past), "was not");
        assert_eq!(form(Verb::Have, true, Positive, Present), "have");
        assert_eq!(form(Verb::Have, false, Negative, Present), "does not have");
        assert_eq!(form(Verb::Have, true, Negative, Present), "do not have");
        assert_eq!(form(Verb::Equal, false, Positive, Past), "equalled");
        assert_eq!(form(Verb::Hold, false, Negative, Past), "did not hold");
        assert_eq!(form(Verb::Can, true, Negative, Present), "cannot");
        assert_eq!(form(Verb::Switch, true, Positive, Present), "switch");
        assert_eq!(form(Verb::Become, false, Positive, Present), "becomes");
    }

    #[test]
    fn w5_verbs_are_recognised() {
        assert_eq!(
            Verb::parse_start("is taken"),
            Some((Verb::Be, Polarity::Positive, " taken"))
        );
        assert_eq!(
            Verb::parse_start("is not free"),
            Some((Verb::Be, Polarity::Negative, " free"))
        );
        assert_eq!(
            Verb::parse_start("does not contain x"),
            Some((Verb::Contain, Polarity::Negative, " x"))
        );
        assert_eq!(Verb::parse_start("issues a ticket"), None);
        assert_eq!(Verb::parse_start("already has a name"), None);
    }

    #[test]
    fn w6_articles() {
        assert_eq!(with_article("tree"), "a tree");
        assert_eq!(with_article("int"), "an int");
        assert_eq!(with_article("AVL tree"), "an AVL tree");
    }

    #[test]
    fn w7_sentences() {
        assert_eq!(to_sentence("the regs are empty"), "The regs are empty.");
        assert_eq!(
            to_sentence("\"insert\" is carried out"),
            "\"insert\" is carried out."
        );
        assert_eq!(to_sentence("Already one."), "Already one.");
    }

    #[test]
    fn w8_numbers() {
        assert_eq!(ordinal(1), "first");
        assert_eq!(ordinal(10), "tenth");
        for (number, expected) in [
            (11, "11th"),
            (12, "12th"),
            (13, "13th"),
            (21, "21st"),
            (22, "22nd"),
        ] {
            assert_eq!(ordinal(number), expected);
        }
        assert_eq!(ordinal(111), "111th");
        assert_eq!(ordinal(0), "0th");
        assert_eq!(cardinal(1), "one");
        assert_eq!(cardinal(10), "ten");
        assert_eq!(cardinal(11), "11");
    }

    #[test]
    fn nouns_have_plurals() {
        assert_eq!(pluralise("whole number"), "whole numbers");
        assert_eq!(pluralise("dictionary"), "dictionaries");
        assert_eq!(pluralise("key"), "keys");
        assert_eq!(pluralise("box"), "boxes");
    }
}
