"use strict";
addEventListener("DOMContentLoaded", () => {
  const body = document.querySelector("tbody");
  if (!body) return;
  const rows = [...body.rows];
  const headings = [...document.querySelectorAll("thead th")];
  const search = document.getElementById("search");

  const value = (row, column) => {
    const cell = row.cells[column];
    // Long names are shortened, but not in the title.
    if (column === 0) return cell.firstElementChild.title;
    return Number(cell.dataset.value ?? cell.textContent.replaceAll(",", ""));
  };
  const compare = (one, other) =>
    typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other;

  const sort = (column, direction) => {
    const sign = direction === "descending" ? -1 : 1;
    // Equal rows stay in the order of their names.
    rows.sort((one, other) =>
      sign * compare(value(one, column), value(other, column)) || compare(value(one, 0), value(other, 0)));
    body.append(...rows);
    headings.forEach((heading, index) =>
      heading.setAttribute("aria-sort", index === column ? direction : "none"));
  };

  headings.forEach((heading, column) =>
    heading.querySelector("button").addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      // Rows that need attention come first: few per cent, many misses.
      const first = column < 2 ? "ascending" : "descending";
      const other = first === "ascending" ? "descending" : "ascending";
      sort(column, now === first ? other : first);
    }));

  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let found = 0;
    for (const row of rows) {
      row.hidden = !value(row, 0).toLowerCase().includes(wanted);
      found += !row.hidden;
    }
    document.getElementById("no-match").hidden = found > 0;
  };
  search.addEventListener("input", filter);
  // The browser may have kept the text of an earlier search.
  filter();

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      filter();
      search.blur();
    } else if (event.key === "Enter" && document.activeElement === search) {
      rows.find((row) => !row.hidden)?.querySelector("a").click();
    }
  });
});
