"use strict";
(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const tree = document.querySelector(".dosdt-tree");
  const nodes = new Map([...tree.querySelectorAll("[data-node]")].map((g) => [Number(g.dataset.node), g]));
  const edges = new Map([...tree.querySelectorAll("[data-edge]")].map((g) => [Number(g.dataset.edge), g]));
  const parents = new Map();
  model.nodes.forEach((node, index) => {
    if (node.rule) [node.yes, node.no].forEach((child) => parents.set(child, index));
  });

  const wayTo = (index) => {
    const way = [index];
    while (parents.has(way[0])) way.unshift(parents.get(way[0]));
    return way;
  };
  const mark = (name, way) => {
    tree.querySelectorAll("." + name).forEach((g) => g.classList.remove(name));
    way.forEach((index) => {
      nodes.get(index).classList.add(name);
      if (edges.has(index)) edges.get(index).classList.add(name);
    });
  };

  // Paths light up under the mouse and with the focus.
  const point = (index) => {
    mark("lit", index === null ? [] : wayTo(index));
    tree.classList.toggle("pointing", index !== null);
  };
  const focused = () => (document.activeElement && document.activeElement.dataset.node !== undefined
    && tree.contains(document.activeElement) && document.activeElement.matches(":focus-visible")
    ? Number(document.activeElement.dataset.node) : null);
  nodes.forEach((g, index) => {
    g.addEventListener("mouseenter", () => point(index));
    g.addEventListener("mouseleave", () => point(focused()));
    g.addEventListener("focus", () => {
      nodes.forEach((other) => other.setAttribute("tabindex", other === g ? "0" : "-1"));
      point(index);
    });
    g.addEventListener("blur", () => point(null));
  });

  // Arrow keys: up to the question, down to the answers, sideways along a row.
  const rows = new Map();
  const rowOf = (index) => wayTo(index).length;
  nodes.forEach((g, index) => rows.set(rowOf(index), [...(rows.get(rowOf(index)) || []), index]));
  const middle = (index) => {
    const box = nodes.get(index).querySelector("rect");
    return Number(box.getAttribute("x")) + Number(box.getAttribute("width")) / 2;
  };
  rows.forEach((row) => row.sort((a, b) => middle(a) - middle(b)));
  tree.addEventListener("keydown", (event) => {
    const g = event.target.closest("[data-node]");
    if (!g || event.altKey || event.ctrlKey || event.metaKey) return;
    const index = Number(g.dataset.node);
    const row = rows.get(rowOf(index));
    const next = {
      ArrowUp: parents.get(index),
      ArrowDown: model.nodes[index].yes,
      ArrowLeft: row[row.indexOf(index) - 1],
      ArrowRight: row[row.indexOf(index) + 1],
      Home: 0,
      End: rows.get(rows.size).at(-1),
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    nodes.get(next).focus();
    nodes.get(next).scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  // A tree too wide for its box can be made to fit.
  const box = tree.closest(".treebox");
  const button = document.querySelector(".fitting");
  const natural = Number(tree.getAttribute("width"));
  const wide = () => { button.hidden = natural <= box.clientWidth; };
  button.addEventListener("click", () => {
    button.setAttribute("aria-pressed", String(box.classList.toggle("fit")));
  });
  addEventListener("resize", wide);
  wide();

  // One case through the tree.
  const form = document.getElementById("case");
  const NOTHING = { missing: true };
  const read = (field, index) => {
    const gone = form.elements["missing" + index];
    if (gone && gone.checked) return NOTHING;
    const input = form.elements["value" + index];
    if (field.kind === "flag") {
      if (input.type === "checkbox") return { flag: input.checked };
      return input.value === "missing" ? NOTHING : { flag: input.value === "yes" };
    }
    if (field.kind === "choice") {
      const chosen = input.selectedOptions[0];
      if (chosen.dataset.missing !== undefined) return NOTHING;
      return chosen.dataset.other !== undefined ? { other: true } : { text: field.options[Number(input.value)] };
    }
    const text = input.value.trim().replace(/^\+/, "");
    if (!/^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) || !Number.isFinite(Number(text))) return null;
    // Whole numbers may be longer than a float is exact.
    return field.whole && /^-?\d+$/.test(text) ? { whole: BigInt(text) } : { number: Number(text) };
  };
  const answer = (rule, value) => {
    if (rule.kind === "is_missing") return Boolean(value.missing);
    if (value.missing || value.other) return false;
    if (rule.kind === "is_true") return value.flag;
    if (rule.text !== undefined) return value.text === rule.text;
    const whole = value.whole !== undefined;
    const limit = whole ? rule.whole : rule.number;
    if (limit === null) return false;
    const [given, asked] = whole ? [value.whole, BigInt(limit)] : [value.number, Number(limit)];
    return rule.kind === "at_most" ? given <= asked : given === asked;
  };
  const element = (name, text, parent, className) => {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    if (parent) parent.append(made);
    return made;
  };
  const shown = (value) => {
    if (value.missing) return "missing";
    if (value.other) return "another value";
    if (value.flag !== undefined) return value.flag ? "yes" : "no";
    return String(value.text ?? value.whole ?? value.number);
  };

  const update = () => {
    const output = document.getElementById("answer");
    const values = model.fields.map(read);
    model.fields.forEach((field, index) => {
      const input = form.elements["value" + index];
      const gone = form.elements["missing" + index];
      if (gone) input.disabled = gone.checked;
      input.setAttribute("aria-invalid", String(values[index] === null));
      document.getElementById("fault" + index).textContent = values[index] === null ? "Enter a number, such as 3.5." : "";
    });
    output.replaceChildren();
    const wrong = values.indexOf(null);
    if (wrong >= 0) {
      mark("way", []);
      element("p", "No answer: " + model.fields[wrong].name + " needs a number.", output);
      return;
    }
    const way = [0];
    const steps = document.createElement("ol");
    while (model.nodes[way.at(-1)].rule) {
      const node = model.nodes[way.at(-1)];
      const value = values[node.rule.column];
      const yes = answer(node.rule, value);
      const step = element("li", node.question + " ", steps);
      element("strong", yes ? "yes" : "no", step);
      if (model.fields[node.rule.column].kind !== "flag") step.append(" (" + shown(value) + ")");
      way.push(yes ? node.yes : node.no);
    }
    const leaf = model.nodes[way.at(-1)];
    mark("way", way);
    element("p", "The tree answers", output, "note");
    const said = element("p", leaf.label, output, "value");
    said.id = "label";
    element("p", leaf.words, output, "note");
    const shares = element("div", "", output);
    leaf.shares.forEach(([name, percent, width, colour]) => {
      const line = element("div", "", shares, "share");
      element("span", name, line);
      const part = element("span", "", element("span", "", line, "track"), "part");
      part.style.cssText = "display:block;width:" + 100 * width + "%;background:" + colour;
      element("span", percent, line, "number");
    });
    if (way.length > 1) {
      element("h3", "Its way", output);
      output.append(steps);
    }
  };
  if (form) {
    form.addEventListener("input", () => {
      update();
      const leaf = [...tree.querySelectorAll("[data-node].way")].at(-1);
      if (!leaf) return;
      const [inner, outer] = [leaf.getBoundingClientRect(), box.getBoundingClientRect()];
      if (inner.left < outer.left || inner.right > outer.right) {
        box.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
      }
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(update));
    update();
  }

  // On paper nothing can be opened.
  const closed = () => [...document.querySelectorAll("details:not([open])")];
  let opened = [];
  addEventListener("beforeprint", () => { opened = closed(); opened.forEach((one) => { one.open = true; }); });
  addEventListener("afterprint", () => { opened.forEach((one) => { one.open = false; }); });
})();
