"""Prints the cities of a country as a table, in several ways."""

import io

import prettytable
from prettytable import PrettyTable

CITIES = [
    ["Adelaide", 1295, 1158259, 600.5],
    ["Brisbane", 5905, 1857594, 1146.4],
    ["Darwin", 112, 120900, 1714.7],
    ["Hobart", 1357, 205556, 619.5],
]


def refused(action, *arguments):
    try:
        print(action(*arguments))
    except Exception as error:
        print(type(error).__name__, error)


def cities():
    table = PrettyTable()
    table.field_names = ["City", "Area", "Population", "Rainfall"]
    table.add_rows(CITIES[:3])
    table.add_row(CITIES[3], divider=True)
    print(table)
    table.align["City"] = "l"
    table.float_format = ".1"
    print(table.get_string(fields=["City", "Rainfall"], sortby="Rainfall", reversesort=True))
    print(table.get_string(start=1, end=3, border=False, header=False))
    print(table.get_html_string(attributes={"id": "cities"}), table.get_csv_string())
    print(table.get_json_string(header=False), table.get_latex_string())
    table.set_style(prettytable.TableStyle.MARKDOWN)
    print(table)
    table.set_style(prettytable.TableStyle.DOUBLE_BORDER)
    table.del_row(0)
    table.add_column("State", ["QLD", "NT", "TAS"])
    print(table.get_string(title="Cities", max_width=8), len(table.rows), table.rowcount)
    table.del_column("Area")
    print(table[0:1])
    refused(table.add_row, ["too", "short"])
    refused(table.del_row, 9)
    refused(setattr, table, "align", "x")
    refused(setattr, table, "field_names", ["a", "a"])
    refused(table.del_column, "Nothing")
    table.clear_rows()
    print(table)


def readers():
    print(prettytable.from_csv(io.StringIO("a,b\n1,2\n3,4\n")))
    print(prettytable.from_html_one("<table><tr><th>x</th></tr><tr><td>1</td></tr></table>"))
    print(prettytable.from_json('[["a", "b"], {"a": 1, "b": 2}]'))


if __name__ == "__main__":
    cities()
    readers()
