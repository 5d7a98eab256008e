"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const canvas = byId("canvas");
const picture = canvas.querySelector("svg");
const nodes = [...picture.querySelectorAll("[data-state]")];
const edges = [...picture.querySelectorAll("[data-edge]")];
const edgeOf = [];
data.edges.forEach((members, edge) => members.forEach((transition) => { edgeOf[transition] = edge; }));
// A screen reader needs more than one picture to read out.
picture.setAttribute("role", "group");

// The visible part: a corner of the picture and its magnification.

const whole = picture.viewBox.baseVal;
const size = { width: whole.width, height: whole.height };
const view = { x: 0, y: 0, scale: 1 };
const show = () => {
  view.scale = Math.min(8, Math.max(0.02, view.scale));
  const width = canvas.clientWidth / view.scale, height = canvas.clientHeight / view.scale;
  picture.setAttribute("viewBox", `${view.x} ${view.y} ${width} ${height}`);
};
const fit = () => {
  view.scale = Math.min(canvas.clientWidth / size.width, canvas.clientHeight / size.height, 1.5);
  view.x = (size.width - canvas.clientWidth / view.scale) / 2;
  view.y = (size.height - canvas.clientHeight / view.scale) / 2;
  show();
};
// The point at this position of the canvas stays there.
const zoom = (factor, left = canvas.clientWidth / 2, top = canvas.clientHeight / 2) => {
  const x = view.x + left / view.scale, y = view.y + top / view.scale;
  view.scale = Math.min(8, Math.max(0.02, view.scale * factor));
  view.x = x - left / view.scale;
  view.y = y - top / view.scale;
  show();
};
const pan = (left, top) => {
  view.x -= left / view.scale;
  view.y -= top / view.scale;
  show();
};
const centre = (element) => {
  if (!element) return;
  const target = element.querySelector("rect, .rim") ?? element;
  const box = target.getBoundingClientRect(), frame = canvas.getBoundingClientRect();
  if (view.scale < 0.6) zoom(0.8 / view.scale, box.x + box.width / 2 - frame.x, box.y + box.height / 2 - frame.y);
  const now = target.getBoundingClientRect();
  pan(frame.x + frame.width / 2 - now.x - now.width / 2, frame.y + frame.height / 2 - now.y - now.height / 2);
};
// The picture moves only if needed, so that it does not jump at every step of a trace.
const reveal = (element) => {
  if (!element) return;
  const box = element.getBoundingClientRect(), frame = canvas.getBoundingClientRect();
  const isInside = box.left > frame.left && box.right < frame.right && box.top > frame.top && box.bottom < frame.bottom;
  if (!isInside || view.scale < 0.6) centre(element);
};

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const frame = canvas.getBoundingClientRect();
  const lines = event.deltaMode === 1 ? 30 : 1;
  zoom(Math.exp(-event.deltaY * lines * 0.0015), event.clientX - frame.x, event.clientY - frame.y);
}, { passive: false });
const fingers = new Map();
let isDragged = false;
canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  if (fingers.size === 1) isDragged = false;
});
addEventListener("pointermove", (event) => {
  const finger = fingers.get(event.pointerId);
  if (!finger) return;
  const others = [...fingers.values()].filter((other) => other !== finger);
  const x = event.clientX - finger.x, y = event.clientY - finger.y;
  // A small movement during a click is not a drag.
  if (!isDragged && Math.hypot(x, y) < 4) return;
  if (others.length) {
    const before = Math.hypot(finger.x - others[0].x, finger.y - others[0].y);
    const after = Math.hypot(event.clientX - others[0].x, event.clientY - others[0].y);
    const frame = canvas.getBoundingClientRect();
    if (before > 0) zoom(after / before, others[0].x - frame.x, others[0].y - frame.y);
  } else pan(x, y);
  isDragged = true;
  canvas.classList.add("dragged");
  finger.x = event.clientX;
  finger.y = event.clientY;
});
for (const kind of ["pointerup", "pointercancel"]) {
  addEventListener(kind, (event) => {
    fingers.delete(event.pointerId);
    if (!fingers.size) canvas.classList.remove("dragged");
  });
}
byId("larger").onclick = () => zoom(1.3);
byId("smaller").onclick = () => zoom(1 / 1.3);
byId("fit").onclick = fit;
addEventListener("resize", show);
addEventListener("beforeprint", () => picture.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`));
addEventListener("afterprint", show);

// The panel.

const make = (tag, text, className) => {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
};
const item = (text, side, action) => {
  const button = make("button");
  button.type = "button";
  button.append(make("span", text), make("b", side));
  button.onclick = action;
  const entry = make("li");
  entry.append(button);
  return entry;
};
let shown = null;
const leading = { out: data.states.map(() => []), in: data.states.map(() => []) };
data.transitions.forEach((transition, number) => {
  if (!transition) return;
  leading.out[transition.from].push(number);
  leading.in[transition.to].push(number);
});
const name = (state) => data.states[state].name || "(no name)";
const showState = (state, strong = []) => {
  nodes[shown]?.classList.remove("shown");
  shown = state;
  nodes[state]?.classList.add("shown");
  const { details, marks } = data.states[state];
  const parts = [make("h2", `State ${name(state)}`)];
  if (marks) parts.push(make("p", marks, "marks"));
  if (details) parts.push(make("pre", details));
  const list = (title, id, numbers, entry) => {
    parts.push(make("h3", `${title} (${numbers.length})`));
    const made = make("ul");
    made.id = id;
    made.append(...numbers.map(entry));
    parts.push(made);
  };
  list("Transitions from here", "outgoing", leading.out[state], (number) => {
    const { text, to } = data.transitions[number];
    const entry = item(text || "(no text)", `→ ${name(to)}`, () => follow(number));
    if (strong.includes(number)) entry.firstChild.classList.add("strong");
    return entry;
  });
  list("Transitions to here", "incoming", leading.in[state], (number) => {
    const { text, from } = data.transitions[number];
    return item(text || "(no text)", `${name(from)} →`, () => { showState(from, [number]); reveal(nodes[from]); });
  });
  byId("state").replaceChildren(...parts);
  byId("state").querySelector(".strong")?.scrollIntoView({ block: "nearest" });
};

// The trace: all its steps, and the number of steps taken.

let steps = [], taken = 0, from = null;
const here = () => (taken ? data.transitions[steps[taken - 1]].to : from);
const showTrace = () => {
  for (const element of picture.querySelectorAll(".on, .later")) element.classList.remove("on", "later");
  steps.forEach((number, place) => {
    if (place < taken) {
      edges[edgeOf[number]]?.classList.add("on");
      nodes[data.transitions[number].to]?.classList.add("on");
    } else edges[edgeOf[number]]?.classList.add("later");
  });
  if (steps.length) nodes[from]?.classList.add("on");
  byId("walk").hidden = !steps.length;
  byId("back").disabled = !taken;
  byId("forward").disabled = taken === steps.length;
  byId("place").textContent = steps.length ? `${taken} of ${steps.length} steps, in state ${name(here())}` : "";
  byId("steps").replaceChildren(...steps.map((number, place) => {
    const { text, to } = data.transitions[number];
    const entry = item(text || "(no text)", `→ ${name(to)}`, () => go(place + 1));
    if (place >= taken) entry.className = "later";
    if (place + 1 === taken) entry.firstChild.setAttribute("aria-current", "step");
    return entry;
  }));
  byId("steps").querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
};
const go = (place) => {
  taken = Math.max(0, Math.min(steps.length, place));
  showTrace();
  showState(here());
  reveal(nodes[here()]);
};
// A transition that starts at the end of the trace extends it; any other begins a new one.
const follow = (number) => {
  const transition = data.transitions[number];
  if (!steps.length || here() !== transition.from) {
    steps = [];
    taken = 0;
    from = transition.from;
  }
  steps = [...steps.slice(0, taken), number];
  byId("traces").value = "";
  go(steps.length);
};
const clear = () => {
  steps = [];
  taken = 0;
  byId("traces").value = "";
  showTrace();
};
byId("back").onclick = () => go(taken - 1);
byId("forward").onclick = () => go(taken + 1);
byId("clear").onclick = clear;
byId("copy").onclick = async () => {
  const text = steps.slice(0, taken).map((number) => data.transitions[number].text).join("\n") + "\n";
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages from a disk may not use the clipboard directly.
    const area = make("textarea", text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  byId("copy").textContent = "Copied";
  setTimeout(() => { byId("copy").textContent = "Copy"; }, 1200);
};
byId("given").hidden = !data.traces.length;
data.traces.forEach((trace, number) => {
  const option = make("option", trace.name || `Trace ${number + 1}`);
  option.value = number;
  byId("traces").append(option);
});
byId("traces").onchange = () => {
  const trace = data.traces[byId("traces").value];
  if (!trace?.transitions.length) return clear();
  steps = trace.transitions;
  from = data.transitions[steps[0]].from;
  go(0);
};
canvas.addEventListener("click", (event) => {
  if (isDragged) return;
  const node = event.target.closest("[data-state]"), edge = event.target.closest("[data-edge]");
  if (node) showState(Number(node.dataset.state));
  else if (edge) {
    const members = data.edges[edge.dataset.edge];
    showState(data.transitions[members[0]].from, members);
  }
});

// Search.

let hits = [], hit = -1;
const showHit = () => {
  for (const element of picture.querySelectorAll(".now")) element.classList.remove("now");
  const query = byId("query").value.trim();
  const count = hits.length.toLocaleString("en");
  byId("count").textContent = !query ? "" : !hits.length ? "nothing found" : hit < 0 ? `${count} found` : `${hit + 1} of ${count}`;
  byId("previous").disabled = byId("next").disabled = !hits.length;
  if (hit < 0) return;
  const { state, transition } = hits[hit];
  const element = state === undefined ? edges[edgeOf[transition]] : nodes[state];
  element?.classList.add("now");
  if (state === undefined) showState(data.transitions[transition].from, [transition]);
  else showState(state);
  centre(element);
};
const search = () => {
  for (const element of picture.querySelectorAll(".hit")) element.classList.remove("hit");
  const query = byId("query").value.trim().toLowerCase();
  hits = [];
  hit = -1;
  if (query) {
    const has = (text) => text.toLowerCase().includes(query);
    const isNamed = (state) => state.name.toLowerCase() === query;
    const states = data.states.map((state, number) => ({ state: number, rank: isNamed(state) ? 0 : has(state.details) || has(state.name) ? 1 : 2 }));
    hits = states.filter(({ rank }) => rank < 2).sort((one, other) => one.rank - other.rank);
    data.transitions.forEach((transition, number) => {
      if (transition && has(transition.text)) hits.push({ transition: number });
    });
    for (const { state, transition } of hits) (state === undefined ? edges[edgeOf[transition]] : nodes[state])?.classList.add("hit");
    if (hits.length) hit = 0;
  }
  showHit();
};
const step = (by) => {
  if (!hits.length) return;
  hit = (hit + by + hits.length) % hits.length;
  showHit();
};
byId("query").oninput = search;
byId("query").onkeydown = (event) => {
  if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  else if (event.key === "Escape") {
    byId("query").value = "";
    search();
    canvas.focus();
  } else return;
  event.preventDefault();
};
byId("search").onsubmit = (event) => event.preventDefault();
byId("previous").onclick = () => step(-1);
byId("next").onclick = () => step(1);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const inPicture = event.target === canvas || event.target === document.body;
  const keys = { "+": () => zoom(1.3), "=": () => zoom(1.3), "-": () => zoom(1 / 1.3), 0: fit, "/": () => byId("query").focus(), n: () => step(1), p: () => step(-1) };
  if (steps.length) keys.Backspace = () => go(taken - 1);
  if (inPicture) {
    Object.assign(keys, { ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60) });
  }
  if (!Object.hasOwn(keys, event.key)) return;
  keys[event.key]();
  event.preventDefault();
});

fit();
showHit();
const start = data.states.findIndex((state) => state.start);
if (start >= 0) showState(start);
