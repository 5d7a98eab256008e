"""Settings that other programs keep as XML."""

import xmltodict

SETTINGS = """<?xml version="1.0"?>
<settings version="2">
  <!-- written by hand -->
  <window width="80" height="25">main</window>
  <recent>one.txt</recent>
  <recent>two.txt</recent>
  <empty/>
</settings>
"""


def read():
    settings = xmltodict.parse(SETTINGS)
    print(settings)
    print(xmltodict.parse(SETTINGS, attr_prefix="", cdata_key="text", force_list=("empty",)))
    print(xmltodict.parse(SETTINGS, xml_attribs=False, strip_whitespace=False))
    print(xmltodict.parse(SETTINGS, process_comments=True)["settings"]["#comment"])
    print(xmltodict.parse(b"<a><b>1</b><b>2</b></a>", force_cdata=True))
    names = {"http://example.org/": None, "http://example.org/b": "b"}
    spaced = '<top xmlns="http://example.org/" xmlns:n="http://example.org/b"><n:x/></top>'
    print(xmltodict.parse(spaced, process_namespaces=True, namespaces=names))

    def whole_numbers(path, key, value):
        return (key, int(value)) if str(value).isdigit() else (key, value)

    print(xmltodict.parse("<a><b>1</b><c>x</c></a>", postprocessor=whole_numbers))
    try:
        xmltodict.parse("<a><b></a>")
    except Exception as error:
        print(type(error).__name__, error)


def stream():
    seen = []

    def keep(path, item):
        seen.append((path[-1][0], item))
        return len(seen) < 2

    try:
        xmltodict.parse("<a><b k='1'>x</b><b>y</b><b>z</b></a>", item_depth=2, item_callback=keep)
    except xmltodict.ParsingInterrupted as stop:
        print(type(stop).__name__)
    print(seen)


def write():
    print(xmltodict.unparse({"a": {"@id": "1", "b": ["x", "y"], "#text": "t", "c": None}}))
    print(xmltodict.unparse({"a": {"b": {"c": "1"}, "d": []}}, pretty=True, indent="  "))
    print(xmltodict.unparse({"a": True}, full_document=False, short_empty_elements=True))
    print(xmltodict.unparse({"a": {"e": None}}, full_document=False, short_empty_elements=True))
    for wrong in ({"a": "1", "b": "2"}, {}):
        try:
            print(xmltodict.unparse(wrong))
        except ValueError as error:
            print(error)


if __name__ == "__main__":
    read()
    stream()
    write()
