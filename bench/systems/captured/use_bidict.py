"""Countries and their codes, looked up both ways."""

from bidict import (
    DROP_OLD,
    RAISE,
    KeyDuplicationError,
    OnDup,
    OrderedBidict,
    ValueDuplicationError,
    bidict,
    frozenbidict,
    inverted,
)


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except (KeyDuplicationError, ValueDuplicationError, KeyError, TypeError) as error:
        print(type(error).__name__, error)


def codes():
    codes = bidict({"France": "fr", "Spain": "es"})
    print(codes["France"], codes.inverse["es"], codes.inv is codes.inverse, repr(codes))
    codes["Italy"] = "it"
    refused(codes.__setitem__, "Italia", "it")
    codes.forceput("Italia", "it")
    refused(codes.put, "Spain", "sp")
    codes.put("Poland", "pl")
    codes.update({"Latvia": "lv"}, Malta="mt")
    codes.putall([("Greece", "gr")], on_dup=OnDup(key=RAISE, val=DROP_OLD))
    codes.forceupdate({"Hellas": "gr"})
    del codes["Malta"]
    print(codes.pop("Latvia"), codes.pop("nowhere", None), len(codes), "Spain" in codes)
    print(codes.inverse.get("xx", "?"), codes == dict(codes), sorted(codes.values()))
    copied = codes.copy()
    copied.clear()
    print(copied, bool(copied), codes.setdefault("Chad", "td"), codes | {"Peru": "pe"})
    refused(codes.pop, "nowhere")
    refused(codes.putall, [("Chad", "xx"), ("Oman", "om")])
    codes |= {"Fiji": "fj"}
    print(codes.popitem(), sorted(codes))


def others():
    frozen = frozenbidict({1: "one", 2: "two"})
    print(hash(frozen) == hash(frozenbidict({2: "two", 1: "one"})), frozen.inverse, frozen[1])
    ordered = OrderedBidict([("a", 1), ("b", 2), ("c", 3)])
    ordered.move_to_end("a")
    ordered["d"] = 4
    ordered.forceput("b", 1)
    print(list(ordered.items()), list(reversed(ordered)), ordered.popitem(last=False))
    print(ordered.equals_order_sensitive(ordered.copy()), ordered == {"d": 4, "c": 3, "b": 1})
    ordered.move_to_end("d", last=False)
    print(ordered, list(inverted({"x": 1})), list(inverted([(1, 2), (3, 4)])))
    ordered.clear()
    refused(ordered.popitem)


if __name__ == "__main__":
    codes()
    others()
