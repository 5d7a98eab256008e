"use strict";
addEventListener("DOMContentLoaded", () => {
  const source = document.querySelector(".source");
  const names = [...document.querySelectorAll("#tests li")].map((item) => item.textContent);
  const sets = (document.getElementById("sets")?.textContent ?? "").split("\n");

  // The list of tests that reach a line: below the line, created when it is first opened.

  const element = (tag, text, className) => {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const members = (number) => {
    const parts = sets[number].split(" ").filter(Boolean);
    const more = parts.at(-1)?.startsWith("+") ? Number(parts.pop()) : 0;
    return { tests: parts.map((part) => names[Number(part)]), more, count: parts.length + more };
  };
  const quantity = (count) => `${count.toLocaleString("en")} ${count === 1 ? "test" : "tests"}`;
  const isFirst = source?.dataset.attribution === "first";

  const card = (button) => {
    const made = element("aside");
    const { tests, more, count } = members(Number(button.dataset.tests));
    made.append(element("h2", isFirst ? "First reached by" : `Reached by ${quantity(count)}`));
    const list = element("ul");
    for (const test of tests) list.append(element("li", test));
    if (more) list.append(element("li", `and ${more.toLocaleString("en")} more`, "more"));
    made.append(list);
    if (button.dataset.ways) {
      const ways = element("dl");
      for (const entry of button.dataset.ways.split("|")) {
        const space = entry.indexOf(" ");
        const { tests, count } = members(Number(entry.slice(0, space)));
        const who = count === 0 ? "never" : isFirst ? tests[0] : quantity(count);
        const pair = element("div", "", count === 0 ? "never" : "");
        pair.append(element("dt", entry.slice(space + 1)), element("dd", who));
        ways.append(pair);
      }
      made.append(element("h2", "Ways on from here"), ways);
    }
    return made;
  };

  const toggle = (button) => {
    const line = button.parentElement;
    const isShown = line.nextElementSibling?.tagName === "ASIDE";
    if (isShown) line.nextElementSibling.remove();
    else line.after(card(button));
    button.setAttribute("aria-expanded", String(!isShown));
  };
  source?.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) toggle(button);
  });

  // Jumps from one missed place to the next. Neighbouring lines are one place, if only lines without code are in between.

  const places = [];
  let last = null;
  for (const line of source?.querySelectorAll(".m,.p,.r,.x") ?? []) {
    const kind = line.classList[1];
    if (kind === "p" || (kind === "m" && last !== "m")) places.push(line);
    last = kind;
  }
  let current = null;
  const top = () => document.querySelector("header").getBoundingClientRect().bottom;
  const go = (step) => {
    if (places.length === 0) return;
    let index;
    if (current) {
      index = places.indexOf(current) + step;
    } else if (step > 0) {
      index = places.findIndex((line) => line.getBoundingClientRect().top > top());
      if (index < 0) index = 0;
    } else {
      index = places.findLastIndex((line) => line.getBoundingClientRect().bottom < top());
    }
    show(places[(index + places.length) % places.length]);
  };
  const show = (line) => {
    current?.classList.remove("current");
    current = line;
    line.classList.add("current");
    line.scrollIntoView({ block: "center" });
    history.replaceState(null, "", `#${line.id}`);
  };
  document.getElementById("j")?.addEventListener("click", () => go(1));
  document.getElementById("k")?.addEventListener("click", () => go(-1));
  // After scrolling by hand, the next place is the one nearest to the visible part.
  for (const type of ["wheel", "touchmove"]) {
    addEventListener(type, () => { current?.classList.remove("current"); current = null; }, { passive: true });
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    switch (event.key) {
      case "j": return go(1);
      case "k": return go(-1);
      case "t": {
        const line = current ?? document.querySelector(":target");
        const button = line?.querySelector("button");
        return button && toggle(button);
      }
      case "u":
      case "n":
      case "p": return document.getElementById(event.key)?.click();
    }
  });

  // The strip at the right edge: the whole file at a glance.

  const lines = source?.querySelectorAll(".l").length ?? 0;
  if (lines > 40) {
    const strip = element("div", "", "strip");
    strip.setAttribute("aria-hidden", "true");
    let mark = null;
    for (const line of source.querySelectorAll(".m,.p")) {
      const at = Number(line.id.slice(1)) - 1;
      const kind = line.classList[1];
      // Marks closer than about a pixel are merged.
      if (mark && mark.kind === kind && at - mark.end <= Math.max(1, lines / 800)) {
        mark.end = at + 1;
        mark.shown.style.height = `${(100 * (mark.end - mark.start)) / lines}%`;
        continue;
      }
      mark = { kind, start: at, end: at + 1, shown: element("i", "", kind) };
      mark.shown.style.top = `${(100 * at) / lines}%`;
      mark.shown.style.height = `${100 / lines}%`;
      strip.append(mark.shown);
    }
    strip.addEventListener("click", (event) => {
      const at = Math.ceil((lines * event.offsetY) / strip.clientHeight) || 1;
      document.getElementById(`L${Math.min(at, lines)}`)?.scrollIntoView({ block: "center" });
    });
    strip.addEventListener("click", (event) => event.stopPropagation());
    document.body.append(strip);
  }
});
