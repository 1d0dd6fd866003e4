"use strict";
// Zoom and pan, when a reader asks: uPlot and the numbers of the figures wait packed in the page.
(() => {
  const UNITS = {
    time: [[1e9, " s"], [1e6, " ms"], [1e3, " us"], [1, " ns"]],
    bytes: [[2 ** 40, " TiB"], [2 ** 30, " GiB"], [2 ** 20, " MiB"], [2 ** 10, " KiB"], [1, " B"]],
    percent: [[1, " %"]],
    count: [[1, ""]],
  };
  const STEP = 1.5, MOVE = 0.2;
  const dark = matchMedia("(prefers-color-scheme:dark)");
  const words = (axis, value) => {
    if (value == null) return "–";
    if (axis.names.length) return axis.names[Math.floor(value)] ?? "";
    const [size, unit] = UNITS[axis.unit].find(([size]) => Math.abs(value) >= size) ?? UNITS[axis.unit].at(-1);
    return (value / size).toLocaleString("en", { maximumSignificantDigits: 5 }) + unit;
  };
  // Round places of an axis: powers of two of bytes, of all else 1, 2 and 5 times powers of ten; of logarithmic ones whole powers.
  const places = (axis, low, high, most) => {
    const round = (least) => {
      if (axis.unit === "bytes") return 2 ** Math.ceil(Math.log2(least));
      const power = 10 ** Math.floor(Math.log10(least));
      return power * ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
    };
    const found = [];
    const base = axis.unit === "bytes" ? 2 : 10;
    const powers = Math.log(high / low) / Math.log(base);
    if (axis.log && powers > 1.5) {
      const factors = base === 2 || powers > most / 2 ? [1] : powers > most / 3 ? [1, 3] : [1, 2, 5];
      const step = Math.max(1, Math.ceil((powers * factors.length) / most));
      for (let power = Math.floor(Math.log(low) / Math.log(base)); base ** power <= high; power += factors.length > 1 ? 1 : step) {
        found.push(...factors.map((factor) => factor * base ** power));
      }
    } else {
      const step = round((high - low) / most);
      for (let place = Math.ceil(low / step); place * step <= high; place++) found.push(place * step);
    }
    return found.filter((place) => place >= low && place <= high);
  };
  const element = (name, parent, values = {}) => parent.appendChild(Object.assign(document.createElement(name), values));

  let unpacked;
  const unpack = () => (unpacked ??= (async () => {
    const bytes = Uint8Array.from(atob(document.getElementById("packed").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const packed = await new Response(stream).json();
    element("style", document.head, { textContent: packed.style });
    element("script", document.head, { textContent: packed.program });
    return packed.figures;
  })());

  // Columns have one value for each x: where a series has more, the later ones are a series of their own, of lines the last counts.
  const apart = (series) => {
    const parts = [];
    series.x.forEach((x, at) => {
      const lines = series.join === "line" || series.join === "steps";
      let part = lines ? parts[0] : parts.find((points) => !points.has(x));
      if (!part) parts.push((part = new Map()));
      part.set(x, series.y[at]);
    });
    return parts.map((points) => ({ ...series, x: [...points.keys()], y: [...points.values()] }));
  };

  const drawing = (panel) => {
    const shown = panel.series.flatMap(apart);
    // As in the picture, what a logarithmic axis cannot show lies on its low end.
    const visible = (axis, values) => values.map((value) => (axis.log && value != null ? Math.max(value, axis.ends[0]) : value));
    const data = uPlot.join(shown.map((series) => [visible(panel.x, series.x), visible(panel.y, series.y)]));
    const ink = dark.matches ? "#e6e6e6" : "#222222", line = dark.matches ? "#3a3a3a" : "#e2e2e2";
    const colour = (series) => ({ ink, grey: dark.matches ? "#9a9a9a" : "#777777" })[series.colour] ?? series.colour;
    // Bars stand on the foot of the panel and are as wide as in the picture.
    const bars = (series) => (u, at) => {
      const path = new Path2D(), foot = u.bbox.top + u.bbox.height;
      u.data[0].forEach((x, place) => {
        const value = u.data[at][place];
        if (value == null) return;
        const [left, right] = [x - series.bar / 2, x + series.bar / 2].map((end) => u.valToPos(end, "x", true));
        const top = u.valToPos(value, "y", true);
        path.rect(left, top, right - left, foot - top);
      });
      return { stroke: path, fill: path };
    };
    const paths = (series) => ({
      line: uPlot.paths.linear(), steps: uPlot.paths.stepped({ align: 1 }), points: () => null, bars: bars(series),
    })[series.join];
    const scale = (axis) => ({
      time: false, auto: false, distr: axis.log ? 3 : 1, range: (u, low, high) => (low == null || high == null ? axis.ends : [low, high]),
    });
    const axis = (of, side, size, apart) => ({
      label: of.label, labelSize: 24, stroke: ink, size, filter: (u, splits) => splits,
      splits: (u, at, low, high) => places(of, low, high, Math.max(2, u.bbox[side] / devicePixelRatio / apart)),
      grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 },
      values: (u, splits) => splits.map((value) => (value == null ? null : words(of, value))),
      ...(of.names.length && {
        splits: (u, at, low, high) => of.names.map((_, number) => number + 0.5).filter((place) => place >= low && place <= high),
      }),
    });
    return {
      data,
      scales: { x: scale(panel.x), y: scale(panel.y) },
      axes: [axis(panel.x, "width", 34, 90), axis(panel.y, "height", 76, 40)],
      series: [{ label: panel.x.label, value: (u, value) => words(panel.x, value) }].concat(shown.map((series) => ({
        label: series.name, stroke: colour(series), width: series.join === "bars" ? 1 : 2, spanGaps: true, paths: paths(series),
        fill: series.join === "bars" ? colour(series) + (series.dashed ? "55" : "") : undefined,
        dash: series.dashed ? [7, 4] : undefined,
        points: { show: series.marked || series.join === "points", size: 7, fill: colour(series) },
        value: (u, value) => (panel.y.log && value === panel.y.ends[0] ? "≤ " : "") + words(panel.y, value),
      }))),
    };
  };

  const chart = (panel, box) => {
    const axes = { x: panel.x, y: panel.y };
    // On a logarithmic axis equal ratios are equal distances.
    const forth = (key, value) => (axes[key].log ? Math.log(value) : value);
    const back = (key, place) => (axes[key].log ? Math.exp(place) : place);
    let u;
    const change = (key, ends) => {
      const { min, max } = u.scales[key], [low, high] = ends(forth(key, min), forth(key, max));
      // Neither closer than numbers are apart nor further than a hundred times the whole.
      const span = forth(key, axes[key].ends[1]) - forth(key, axes[key].ends[0]);
      const fits = high - low > 1e-9 * Math.max(1, Math.abs(high)) && high - low <= (axes[key].log ? 3 : 100) * span;
      if (fits) u.setScale(key, { min: back(key, low), max: back(key, high) });
    };
    const zoom = (factor, part = { x: 0.5, y: 0.5 }) => u.batch(() => ["x", "y"].forEach((key) => change(key, (low, high) => {
      const fixed = low + part[key] * (high - low);
      return [fixed + (low - fixed) * factor, fixed + (high - fixed) * factor];
    })));
    const move = (key, by) => change(key, (low, high) => [low + by * (high - low), high + by * (high - low)]);
    const whole = () => u.batch(() => ["x", "y"].forEach((key) => {
      u.setScale(key, { min: axes[key].ends[0], max: axes[key].ends[1] });
    }));
    const part = (event) => {
      const { left, top, width, height } = u.over.getBoundingClientRect();
      return { x: (event.clientX - left) / width, y: 1 - (event.clientY - top) / height };
    };
    const press = (_, __, select) => (event) => {
      if (event.button) return;
      if (!event.shiftKey) return select(event);
      let from = part(event);
      const drag = (event) => {
        const to = part(event);
        u.batch(() => { move("x", from.x - to.x); move("y", from.y - to.y); });
        from = to;
      };
      addEventListener("mousemove", drag);
      addEventListener("mouseup", () => removeEventListener("mousemove", drag), { once: true });
    };
    const made = drawing(panel);
    u = new uPlot({
      ...made, width: Math.max(320, box.clientWidth), height: 420,
      cursor: { drag: { x: true, y: true, uni: 20 }, bind: { mousedown: press, dblclick: () => whole } },
    }, made.data, box);
    u.over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(STEP ** Math.max(-1, Math.min(1, event.deltaY / 100)), part(event));
    }, { passive: false });
    whole();
    const keys = {
      "+": () => zoom(1 / STEP), "=": () => zoom(1 / STEP), "-": () => zoom(STEP), 0: whole,
      ArrowLeft: () => move("x", -MOVE), ArrowRight: () => move("x", MOVE),
      ArrowDown: () => move("y", -MOVE), ArrowUp: () => move("y", MOVE),
    };
    const fit = () => {
      const width = Math.max(320, box.clientWidth);
      if (width !== u.width) u.setSize({ width, height: u.height });
    };
    return { keys, fit, close: () => u.destroy() };
  };

  const title = (figure) => figure.closest("section").querySelector("h2").textContent;

  // A figure: its panels one at a time, as wide as the page.
  const open = async (figure, button) => {
    const panels = (await unpack())[figure.closest("section").id];
    const bar = element("div", figure, { className: "bar" }), box = element("div", figure, { className: "zoom", tabIndex: 0 });
    box.setAttribute("role", "application");
    box.setAttribute("aria-label", `${title(figure)}: + and - zoom, arrows move, 0 shows the whole`);
    const choice = element("select", bar, { ariaLabel: "Panel", hidden: panels.length < 2 });
    panels.forEach((panel, at) => element("option", choice, { value: at, textContent: panel.title || `panel ${at + 1}` }));
    let shown;
    const draw = () => {
      shown?.close();
      shown = chart(panels[choice.value], box);
    };
    for (const [name, key] of [["Zoom in", "+"], ["Zoom out", "-"], ["Whole", "0"]]) {
      element("button", bar, { type: "button", textContent: name, onclick: () => shown.keys[key]() });
    }
    element("small", bar, { textContent: " Drag to zoom in, Shift and drag to move, Ctrl and wheel to zoom; keys + - 0 and arrows." });
    box.onkeydown = (event) => {
      const action = event.ctrlKey || event.altKey || event.metaKey ? undefined : shown.keys[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    choice.onchange = draw;
    dark.addEventListener("change", draw);
    const resized = () => shown.fit();
    addEventListener("resize", resized);
    draw();
    button.textContent = "Close";
    box.focus();
    return () => {
      shown.close();
      dark.removeEventListener("change", draw);
      removeEventListener("resize", resized);
      bar.remove();
      box.remove();
      button.textContent = "Zoom and pan";
    };
  };

  for (const figure of document.querySelectorAll("figure[data-zoom]")) {
    let close;
    const button = element("button", figure, { type: "button", textContent: "Zoom and pan", ariaExpanded: "false" });
    button.setAttribute("aria-description", title(figure));
    button.onclick = async () => {
      button.disabled = true;
      try {
        close = close ? close() : await open(figure, button);
      } catch (error) {
        unpacked = undefined;
        element("p", figure, { textContent: `This browser cannot show the figure larger (${error.message}).` });
      } finally {
        button.disabled = false;
        button.ariaExpanded = String(Boolean(close));
      }
    };
  }
})();
