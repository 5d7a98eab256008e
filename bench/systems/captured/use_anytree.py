"""Keeps things in trees: folders, chapters, families."""

import anytree
from anytree import (
    AnyNode,
    LevelOrderIter,
    Node,
    PostOrderIter,
    PreOrderIter,
    RenderTree,
    Resolver,
    Walker,
    search,
)
from anytree.exporter import DictExporter, JsonExporter
from anytree.importer import DictImporter, JsonImporter


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except (
        anytree.LoopError,
        anytree.TreeError,
        anytree.ResolverError,
        search.CountError,
        anytree.WalkError,
    ) as error:
        print(type(error).__name__, error)


def family():
    udo = Node("Udo")
    marc = Node("Marc", parent=udo)
    lian = Node("Lian", parent=marc, age=3)
    dan = Node("Dan", parent=udo)
    jet = Node("Jet", parent=dan)
    return udo, marc, lian, dan, jet


def walk():
    udo, marc, lian, dan, jet = family()
    print(
        udo,
        lian,
        [node.name for node in udo.children],
        lian.root.name,
        lian.depth,
        udo.height,
        udo.size,
    )
    print(
        [node.name for node in lian.ancestors],
        [node.name for node in udo.descendants],
        udo.is_root,
        jet.is_leaf,
    )
    print(
        [node.name for node in lian.path],
        [node.name for node in marc.siblings],
        [node.name for node in udo.leaves],
    )
    for kind in (PreOrderIter, PostOrderIter, LevelOrderIter):
        print([node.name for node in kind(udo)], [node.name for node in kind(udo, maxlevel=2)])
        print([node.name for node in kind(udo, filter_=lambda node: len(node.name) == 3)])
    print(Walker().walk(lian, jet), lian.iter_path_reverse() is not None)
    print(
        search.find(udo, lambda node: node.name == "Dan"),
        search.findall_by_attr(udo, "Jet"),
        search.find_by_attr(udo, "Nobody"),
    )
    refused(search.find, udo, lambda node: True)
    refused(Walker().walk, lian, Node("other"))


def change():
    udo, marc, lian, dan, jet = family()
    jet.parent = marc
    print([node.name for node in marc.children], dan.children)
    marc.parent = None
    print(marc.is_root, [node.name for node in udo.descendants])
    dan.children = [Node("a"), Node("b")]
    print([node.name for node in dan.children])
    del dan.children
    refused(setattr, udo, "parent", dan)
    refused(setattr, udo, "parent", "nobody")


def show():
    udo, *_ = family()
    print(RenderTree(udo).by_attr(), RenderTree(udo, style=anytree.AsciiStyle()))
    print(DictExporter().export(udo), JsonExporter(sort_keys=True).export(udo))
    again = DictImporter().import_({"name": "root", "children": [{"name": "leaf"}]})
    print(RenderTree(again), JsonImporter().import_('{"a": "root"}'), AnyNode(id="x", parent=None))
    resolver = Resolver("name")
    print(resolver.get(udo, "Marc/Lian"), resolver.glob(udo, "*/J*"), resolver.get(udo, "/Udo/Dan"))
    refused(resolver.get, udo, "Marc/Nobody")
    refused(resolver.glob, udo, "Nobody/*")


if __name__ == "__main__":
    walk()
    change()
    show()
