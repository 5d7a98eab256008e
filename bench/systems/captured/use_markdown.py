"""Turns notes into pages."""

import markdown

NOTES = """\
Title
=====

Some *emphasis*, **strong words**, `code` and a [link](http://example.org "there").
A line with a break.\x20\x20
An ![image](cat.png) and <http://example.com>, a [reference][one] and <b>html</b> &amp; more.

## A list ##

1. first
2. second

    more of the second

* loose

* list
    * nested

> A quotation
> of two lines

    code block < & >

- - -

[one]: http://example.org/one 'One'

<div class="box">
raw *html*
</div>
"""

TABLE = """\
Fruit | Price
----- | ----:
pear  | 3
fig   | 12

```python
print("hi")
```

Term
:   its meaning

Tea[^1] and HTML.

[^1]: a note

*[HTML]: Hypertext

# Heading {#own .big}
"""


def pages():
    print(markdown.markdown(NOTES))
    print(markdown.markdown(NOTES, output_format="html", tab_length=2))
    print(markdown.markdown(""), markdown.markdown("a_b_c _d_ ***both*** \\*not\\*"))
    print(markdown.markdown("line\r\nanother\ttab \u0003"))


def extensions():
    print(markdown.markdown(TABLE, extensions=["extra"]))
    print(markdown.markdown("# One\n\n## Two\n\n[TOC]\n", extensions=["toc"]))
    print(
        markdown.markdown("a\nb", extensions=["nl2br"]),
        markdown.markdown("- a\n\n1. b", extensions=["sane_lists"]),
    )
    text = markdown.Markdown(
        extensions=["meta", "toc"], extension_configs={"toc": {"permalink": True}}
    )
    print(text.convert("Author: Ann\nDate: today\n\n# Hello\n"), text.Meta, text.toc)
    print(text.reset().convert("again"))
    print(markdown.markdown('"quotes" -- and...', extensions=["smarty"]))
    print(markdown.markdown("!!! note\n    Take care.", extensions=["admonition"]))


def refuse():
    for extensions in (["no_such_extension"], [3]):
        try:
            markdown.Markdown(extensions=extensions)
        except (ImportError, TypeError) as error:
            print(type(error).__name__, error)
    try:
        markdown.markdown("x", output_format="pdf")
    except KeyError as error:
        print(error)


if __name__ == "__main__":
    pages()
    extensions()
    refuse()
