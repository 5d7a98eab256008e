"""Names of tables, classes and pages, made from each other as a web framework does."""

import inflection

WORDS = ["post", "octopus", "sheep", "CamelOctopus", "person", "quiz", "mouse", "day", "city", ""]


def words():
    for word in WORDS:
        plural = inflection.pluralize(word)
        print(word, plural, inflection.singularize(plural))


def names():
    for name in ("active_model", "active_model/errors", "employee_salary", "author_id", "x"):
        print(
            inflection.camelize(name),
            inflection.camelize(name, False),
            inflection.dasherize(name),
            inflection.humanize(name),
            inflection.titleize(name),
            inflection.tableize(name),
        )
    for name in ("ActiveModel", "HTMLTidy", "device-type", "Post"):
        print(inflection.underscore(name), inflection.tableize(name), inflection.titleize(name))


def pages():
    for title in ("Donald E. Knuth", "  Ærøskøbing -- the town  ", "älämölö"):
        print(
            inflection.parameterize(title),
            inflection.parameterize(title, "_"),
            inflection.parameterize(title, ""),
            inflection.transliterate(title),
        )
    for number in (1, 2, 3, 4, 11, 12, 13, 21, 1002, -101):
        print(inflection.ordinal(number), inflection.ordinalize(number))


if __name__ == "__main__":
    words()
    names()
    pages()
