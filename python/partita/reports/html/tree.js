"use strict";
/* The tree of forks on a canvas. The width of a node is the number of leaves below it, so a subtree that is outside of the
   window or narrower than a pixel is skipped as a whole: a frame costs the visible nodes, not all nodes. */
(() => {
  const source = document.getElementById("tree-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const { parent, places, sides, endings } = data;
  const count = parent.length;
  const ROW = 20, MIN_WIDTH = 1, CHARACTER = 7.3, MARGIN = 5;
  const UNKNOWN = 0, FORK = 1, GOOD = 2, PART = 3, BAD = 4;

  /* Parents precede their children: one pass up, one pass down. */
  const leaves = new Float64Array(count), start = new Float64Array(count), next_start = new Float64Array(count);
  const depth = new Int32Array(count), deepest = new Int32Array(count), bugs = new Int32Array(count);
  const first = new Int32Array(count).fill(-1), last = new Int32Array(count).fill(-1);
  const after = new Int32Array(count).fill(-1), before = new Int32Array(count).fill(-1);
  const kind = new Uint8Array(count), worst = new Uint8Array(count);
  const is_bug = endings.map((text) => !/^(exit|limit|unsupported|dropped)/.test(text));
  const is_exit = endings.map((text) => text.startsWith("exit"));
  for (let i = 1; i < count; i++) {
    const p = parent[i];
    depth[i] = depth[p] + 1;
    before[i] = last[p];
    if (last[p] < 0) first[p] = i; else after[last[p]] = i;
    last[p] = i;
  }
  for (let i = count - 1; i >= 0; i--) {
    const ending = data.ending[i];
    if (first[i] < 0) leaves[i] = 1;
    if (ending !== null) bugs[i] += is_bug[ending] ? 1 : 0;
    kind[i] = first[i] >= 0 ? FORK : ending === null ? UNKNOWN : is_bug[ending] ? BAD : is_exit[ending] ? GOOD : PART;
    worst[i] = Math.max(worst[i], kind[i]);
    deepest[i] = Math.max(deepest[i], depth[i]);
    if (i) {
      const p = parent[i];
      leaves[p] += leaves[i];
      bugs[p] += bugs[i];
      worst[p] = Math.max(worst[p], worst[i]);
      deepest[p] = Math.max(deepest[p], deepest[i]);
    }
  }
  for (let i = 1; i < count; i++) {
    const p = parent[i];
    start[i] = start[p] + next_start[p];
    next_start[p] += leaves[i];
  }

  const box = document.getElementById("tree"), canvas = box.querySelector("canvas"), description = document.getElementById("tree-node");
  const context = canvas.getContext("2d");
  box.hidden = false;
  const rows = deepest[0] + 1;
  const view = { left: 0, scale: 1, top: 0, width: 1, height: 1 };
  let selected = 0, scheduled = false;

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const value = (name) => style.getPropertyValue(name).trim();
    return { ground: value("--ground"), text: value("--text"), link: value("--link"), kinds: ["--pass", "--fork", "--good-mark", "--part-mark", "--bad-mark"].map(value) };
  }
  let paint = colours();

  function resize() {
    const ratio = window.devicePixelRatio || 1;
    const all = view.scale * leaves[0] <= view.width * 1.0001;
    view.width = Math.max(1, canvas.clientWidth);
    view.height = Math.min(rows * ROW, Math.max(8 * ROW, Math.round(window.innerHeight * 0.55)));
    canvas.style.height = `${view.height}px`;
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    canvas.style.touchAction = rows * ROW > view.height ? "none" : "pan-y";
    if (all) fit(); else move(0, 0);
  }
  function fit() {
    view.scale = view.width / leaves[0];
    view.left = view.top = 0;
    redraw();
  }
  function move(x, y) {
    const least = view.width / leaves[0];
    view.scale = Math.min(Math.max(view.scale, least), Math.max(least, view.width));
    view.left = Math.min(Math.max(0, view.left + x / view.scale), leaves[0] - view.width / view.scale);
    view.top = Math.min(Math.max(0, view.top + y), Math.max(0, rows * ROW - view.height));
    redraw();
  }
  function zoom(factor, x) {
    const at = view.left + x / view.scale;
    view.scale *= factor;
    const least = view.width / leaves[0];
    view.scale = Math.min(Math.max(view.scale, least), Math.max(least, view.width));
    view.left = at - x / view.scale;
    move(0, 0);
  }
  function show(node) {
    view.scale = view.width / leaves[node];
    view.left = start[node];
    view.top = depth[node] * ROW - view.height / 3;
    move(0, 0);
  }
  function reveal(node) {
    const x = (start[node] - view.left) * view.scale, wide = leaves[node] * view.scale;
    if (wide < 3) {
      view.scale = Math.min(view.width, 12 / leaves[node]);
      view.left = start[node] + leaves[node] / 2 - view.width / view.scale / 2;
    } else if (x + wide < MARGIN || x > view.width - MARGIN) {
      view.left = start[node] + leaves[node] / 2 - view.width / view.scale / 2;
    }
    const y = depth[node] * ROW;
    if (y < view.top || y + ROW > view.top + view.height) view.top = y - view.height / 2;
    move(0, 0);
  }
  function redraw() {
    if (!scheduled) {
      scheduled = true;
      requestAnimationFrame(draw);
    }
  }

  function place_of(node) {
    const at = data.place[node] === null ? null : places[data.place[node]];
    if (!at) return "";
    return at[1] ? `${at[0]}:${at[1]}` : "unknown place";
  }
  function label(node) {
    if (first[node] < 0 && !data.left_out[node]) return data.ending[node] === null ? "dropped" : endings[data.ending[node]];
    return place_of(node).replace(/^.*\//, "");
  }

  function draw() {
    scheduled = false;
    context.fillStyle = paint.ground;
    context.fillRect(0, 0, view.width, view.height);
    context.font = '12px ui-monospace, "DejaVu Sans Mono", monospace';
    context.textBaseline = "middle";
    const stack = [0];
    while (stack.length) {
      const node = stack.pop();
      const x = (start[node] - view.left) * view.scale, wide = leaves[node] * view.scale;
      const y = depth[node] * ROW - view.top;
      if (x > view.width || x + wide < 0 || y > view.height || (deepest[node] + 1) * ROW - view.top < 0) continue;
      const thin = wide < MIN_WIDTH;
      if (y + ROW > 0 || thin) {
        const hides_bug = first[node] >= 0 && bugs[node] > 0;
        const from = Math.max(x, -2), to = Math.min(x + wide, view.width + 2);
        context.fillStyle = paint.kinds[thin ? worst[node] : kind[node]];
        const tall = thin ? (deepest[node] - depth[node] + 1) * ROW : ROW;
        const gap = wide > 4 ? 1 : 0;
        context.fillRect(from, y, Math.max(MIN_WIDTH, to - from - gap), tall - 1);
        if (hides_bug && !thin) {
          context.fillStyle = paint.kinds[BAD];
          context.fillRect(from, y + ROW - 4, Math.max(MIN_WIDTH, to - from - gap), 3);
        }
        const room = Math.floor((to - from - 2 * MARGIN) / CHARACTER);
        const words = room >= 2 ? label(node) : "";
        if (words && (room >= 6 || words.length <= room)) {
          context.fillStyle = kind[node] === FORK ? paint.text : "#fff";
          context.fillText(words.length > room ? `${words.slice(0, room - 1)}\u2026` : words, Math.max(from, 0) + MARGIN, y + ROW / 2 - 1);
        }
      }
      if (thin) continue;
      for (let kid = last[node]; kid >= 0; kid = before[kid]) stack.push(kid);
    }
    const x = (start[selected] - view.left) * view.scale, wide = Math.max(3, leaves[selected] * view.scale);
    context.strokeStyle = paint.link;
    context.lineWidth = 2;
    context.strokeRect(Math.max(x, -3) + 1, depth[selected] * ROW - view.top + 1, Math.min(x + wide, view.width + 3) - Math.max(x, -3) - 2, ROW - 3);
  }

  function counted(number, word) {
    return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
  }
  function select(node) {
    selected = node;
    const words = [];
    const side = data.side[node] === null ? "" : sides[data.side[node]];
    if (node && side) words.push(`at ${place_of(parent[node])} to ${side}`);
    else if (node) words.push(`at ${place_of(parent[node])}`);
    const at = data.place[node] === null ? null : places[data.place[node]];
    if (at) {
      const drawn = first[node] >= 0 ? leaves[node] : 0;
      words.push(`fork at ${place_of(node)}${at[2] ? ` in ${at[2]}` : ""}`);
      words.push(drawn ? `${counted(drawn, "path")} below${bugs[node] ? `, ${counted(bugs[node], "bug")}` : ""}` : "nothing below is drawn");
    } else {
      words.push(data.ending[node] === null ? "dropped, without a test" : `ending: ${endings[data.ending[node]]}`);
    }
    if (data.left_out[node]) words.push(`${counted(data.left_out[node], "path")} not drawn`);
    description.textContent = `${words.join("; ")}. `;
    if (data.test[node] !== null) {
      const name = `test${String(data.test[node]).padStart(6, "0")}`;
      const test = document.createElement(document.getElementById(name) ? "a" : "code");
      test.textContent = name;
      if (test.tagName === "A") test.href = `#${name}`;
      description.append(test);
    }
    redraw();
  }
  function go(node) {
    if (node >= 0 && node !== undefined) {
      select(node);
      reveal(node);
    }
  }
  function beside(node, step) {
    /* The nearest node of the same depth on that side, or a shallower leaf in between. */
    let up = node, climbed = 0;
    while (up > 0 && step[up] < 0) {
      up = parent[up];
      climbed++;
    }
    if (up <= 0) return -1;
    let down = step[up];
    const inner = step === after ? first : last;
    for (; climbed > 0 && inner[down] >= 0; climbed--) down = inner[down];
    return down;
  }
  function next_bug() {
    for (let step = 1; step <= count; step++) {
      const node = (selected + step) % count;
      if (kind[node] === BAD) return node;
    }
    return -1;
  }
  function hit(x, y) {
    const row = Math.floor((y + view.top) / ROW), leaf = view.left + x / view.scale;
    let node = 0;
    while (node >= 0 && depth[node] < row) {
      let kid = first[node];
      while (kid >= 0 && start[kid] + leaves[kid] <= leaf) kid = after[kid];
      if (kid < 0) return -1;
      node = kid;
    }
    return node;
  }

  const actions = { in: () => zoom(1.6, view.width / 2), out: () => zoom(1 / 1.6, view.width / 2), all: fit, bug: () => go(next_bug()) };
  box.querySelectorAll("button").forEach((button) => button.addEventListener("click", () => actions[button.dataset.do]()));
  box.querySelector('[data-do="bug"]').hidden = bugs[0] === 0;
  canvas.addEventListener("keydown", (event) => {
    const keys = {
      "+": actions.in, "=": actions.in, "-": actions.out, "0": fit, Enter: () => show(selected), b: actions.bug,
      ArrowUp: () => go(selected ? parent[selected] : -1), ArrowDown: () => go(first[selected]),
      ArrowLeft: () => go(beside(selected, before)), ArrowRight: () => go(beside(selected, after)),
      PageUp: () => move(0, -view.height), PageDown: () => move(0, view.height), Home: () => go(0),
    };
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move(event.deltaX || event.deltaY, 0);
    else zoom(Math.exp(-event.deltaY / 300), event.offsetX);
  }, { passive: false });
  /* One finger or the mouse moves, two fingers zoom. */
  const fingers = new Map();
  let travelled = 0;
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    if (fingers.size === 1) travelled = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const old = fingers.get(event.pointerId);
    if (!old) return;
    const now = [event.offsetX, event.offsetY];
    fingers.set(event.pointerId, now);
    travelled += Math.abs(now[0] - old[0]) + Math.abs(now[1] - old[1]);
    if (fingers.size === 1) return move(old[0] - now[0], old[1] - now[1]);
    const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const wide = (at) => Math.max(10, Math.hypot(at[0] - other[0], at[1] - other[1]));
    zoom(wide(now) / wide(old), (now[0] + other[0]) / 2);
  });
  const release = (event) => {
    if (fingers.delete(event.pointerId) && event.type === "pointerup" && travelled < 6) {
      const node = hit(event.offsetX, event.offsetY);
      if (node >= 0) select(node);
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("dblclick", (event) => {
    const node = hit(event.offsetX, event.offsetY);
    if (node >= 0) show(node);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    paint = colours();
    redraw();
  });
  new ResizeObserver(resize).observe(canvas.parentElement);
  resize();
  fit();
  select(0);
})();
