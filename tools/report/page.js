"use strict";
// Draws the charts of a report: one time axis for all, a shared cursor with values, zoom by dragging.
(() => {
  const holder = document.getElementById("data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const time = new Float32Array(bytes(data.time));
  const whole = [time[0], time[time.length - 1]];
  let view = whole.slice(), cursor = null, dark = null;
  const charts = [];
  const LEFT = 54, RIGHT = 10, BOTTOM = 18;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim() || name;
  const STYLES = { wanted: [1.4, [5, 3]], est: [1.3, []], true: [1.5, []] };

  function values(curve) {
    if (!curve.y) {
      const raw = new Int16Array(bytes(curve.data)), scale = (curve.high - curve.low) / 65534;
      curve.y = Float32Array.from(raw, (v) => (v === -32768 ? NaN : curve.low + (v + 32767) * scale));
    }
    return curve.y;
  }

  function index(t) { // first sample at or after t
    let low = 0, high = time.length;
    while (low < high) { const k = (low + high) >> 1; if (time[k] < t) low = k + 1; else high = k; }
    return low;
  }

  function nice(span, most) {
    const raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
  }
  const digits = (step) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const short = (v) => (Number.isFinite(v) ? (Math.abs(v) >= 1000 ? v.toFixed(0) : Number(v.toPrecision(4)).toString()) : "–");

  function prepare(chart) {
    const box = chart.plot.getBoundingClientRect(), ratio = Math.max(window.devicePixelRatio || 1, 1);
    chart.w = box.width; chart.h = box.height;
    for (const canvas of [chart.base, chart.over]) {
      canvas.width = Math.round(box.width * ratio); canvas.height = Math.round(box.height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    return box.width > 40;
  }

  const xOf = (chart, t) => LEFT + (t - view[0]) / (view[1] - view[0]) * (chart.w - LEFT - RIGHT);
  const tOf = (chart, x) => view[0] + (x - LEFT) / (chart.w - LEFT - RIGHT) * (view[1] - view[0]);

  function background(chart, g, bottom) {
    for (const [a, b, mode] of data.modes) {
      if (b < view[0] || a > view[1]) continue;
      g.fillStyle = colour("m-" + mode) || colour("m-other");
      const x0 = Math.max(LEFT, xOf(chart, a)), x1 = Math.min(chart.w - RIGHT, xOf(chart, b));
      g.globalAlpha = chart.spec.kind === "lanes" ? 0.25 : 0.45; g.fillRect(x0, 0, x1 - x0, bottom);
    }
    g.globalAlpha = 1;
    const step = nice(view[1] - view[0], Math.max(2, chart.w / 110));
    g.font = "11px system-ui, sans-serif"; g.textAlign = "center"; g.textBaseline = "top";
    for (let t = Math.ceil(view[0] / step) * step; t <= view[1] + 1e-9; t += step) {
      const x = xOf(chart, t);
      g.strokeStyle = colour("grid"); g.lineWidth = 1; g.beginPath(); g.moveTo(x, 0); g.lineTo(x, bottom); g.stroke();
      g.fillStyle = colour("mute");
      if (x > LEFT + 8 && x < chart.w - RIGHT - 8) g.fillText(t.toFixed(digits(step)) + (chart.w > 500 ? " s" : ""), x, bottom + 4);
    }
  }

  function marks(chart, g, bottom) {
    for (const mark of data.marks) {
      if (mark.t < view[0] || mark.t > view[1]) continue;
      const x = xOf(chart, mark.t);
      g.strokeStyle = colour(mark.kind); g.lineWidth = 1.3; g.setLineDash([4, 2]);
      g.beginPath(); g.moveTo(x, 0); g.lineTo(x, bottom); g.stroke(); g.setLineDash([]);
    }
  }

  function drawLines(chart, g) {
    const spec = chart.spec, bottom = chart.h - BOTTOM, from = Math.max(0, index(view[0]) - 1), to = Math.min(time.length, index(view[1]) + 1);
    let low = Infinity, high = -Infinity;
    for (const curve of spec.curves) {
      const y = values(curve);
      for (let k = from; k < to; k++) { if (y[k] < low) low = y[k]; if (y[k] > high) high = y[k]; }
    }
    if (spec.range) [low, high] = [Math.min(low, spec.range[0]), Math.max(high, spec.range[1])];
    if (!(low <= high)) [low, high] = [0, 1];
    const least = spec.least || 1e-3;
    if (high - low < least) { const middle = (low + high) / 2; low = middle - least / 2; high = middle + least / 2; }
    const pad = 0.07 * (high - low); low -= pad; high += pad;
    const yOf = (v) => bottom - (v - low) / (high - low) * (bottom - 4) - 1;
    background(chart, g, bottom);
    const step = nice(high - low, Math.max(3, bottom / 28));
    g.textAlign = "right"; g.textBaseline = "middle";
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) {
      g.strokeStyle = colour("grid"); g.lineWidth = 1; g.beginPath(); g.moveTo(LEFT, yOf(v)); g.lineTo(chart.w - RIGHT, yOf(v)); g.stroke();
      g.fillStyle = colour("mute"); g.fillText((Math.abs(v) < step / 1e6 ? 0 : v).toFixed(digits(step)), LEFT - 5, yOf(v));
    }
    for (const limit of spec.limits || []) {
      if (limit.at < low || limit.at > high) continue;
      g.strokeStyle = colour("limit"); g.lineWidth = 1; g.setLineDash([2, 3]); g.beginPath();
      g.moveTo(LEFT, yOf(limit.at)); g.lineTo(chart.w - RIGHT, yOf(limit.at)); g.stroke(); g.setLineDash([]);
      if (limit.text) { g.fillStyle = colour("limit"); g.textAlign = "left"; g.fillText(limit.text, LEFT + 4, yOf(limit.at) + (yOf(limit.at) > 14 ? -7 : 8)); g.textAlign = "right"; }
    }
    g.save(); g.beginPath(); g.rect(LEFT, 0, chart.w - LEFT - RIGHT, bottom); g.clip();
    for (const curve of spec.curves) {
      const y = values(curve), [width, dash] = STYLES[curve.style] || [1.3, []];
      g.strokeStyle = colour(curve.style); g.lineWidth = width; g.setLineDash(dash); g.beginPath();
      let pen = false, column = -1, min = 0, max = 0;
      for (let k = from; k < to; k++) {
        const v = y[k];
        if (Number.isNaN(v)) { pen = false; column = -1; continue; }
        const x = xOf(chart, time[k]), at = Math.round(x * 2);
        if (at === column) { // several samples in one half pixel: only what goes beyond what is drawn
          if (v < min) { min = v; g.lineTo(x, yOf(v)); } else if (v > max) { max = v; g.lineTo(x, yOf(v)); }
          continue;
        }
        column = at; min = max = v;
        if (pen) g.lineTo(x, yOf(v)); else { g.moveTo(x, yOf(v)); pen = true; }
      }
      g.stroke(); g.setLineDash([]);
    }
    g.restore();
    marks(chart, g, bottom);
  }

  function drawLanes(chart, g) {
    const spec = chart.spec, bottom = chart.h - BOTTOM, height = bottom / spec.rows.length;
    background(chart, g, bottom);
    g.save(); g.beginPath(); g.rect(LEFT, 0, chart.w - LEFT - RIGHT, bottom); g.clip();
    spec.rows.forEach((row, k) => {
      const middle = (k + 0.5) * height;
      for (const bar of row.bars) {
        g.fillStyle = colour(bar.colour);
        for (const [a, b, text] of bar.spans) {
          if (b < view[0] || a > view[1]) continue;
          const x = Math.max(LEFT, xOf(chart, a)), wide = Math.max(1.5, Math.min(chart.w - RIGHT, xOf(chart, b)) - x);
          g.fillRect(x, middle - bar.share * height / 2, wide, bar.share * height);
          if (text && (wide > 20 || bar.share < 0.8)) { // in a full bar; beside a narrow one
            g.fillStyle = colour("text"); g.textBaseline = "middle"; g.save(); g.beginPath();
            const inside = bar.share >= 0.8, fits = inside || xOf(chart, b) + 6 + g.measureText(text).width < chart.w - RIGHT;
            const before = !fits && xOf(chart, a) - 6 - g.measureText(text).width > LEFT, on = inside || !(fits || before);
            g.rect(on ? x : LEFT, 0, on ? wide - 2 : chart.w, bottom); g.clip(); g.textAlign = before ? "right" : "left";
            if (on && !inside) g.fillStyle = colour("bg");
            g.fillText(text, on ? x + 4 : fits ? xOf(chart, b) + 6 : xOf(chart, a) - 6, middle + 0.5); g.restore(); g.fillStyle = colour(bar.colour);
          }
        }
      }
    });
    g.restore();
    g.textAlign = "right"; g.textBaseline = "middle"; g.fillStyle = colour("mute"); g.font = "11px system-ui, sans-serif";
    spec.rows.forEach((row, k) => g.fillText(row.name, LEFT - 5, (k + 0.5) * height, LEFT - 8));
    marks(chart, g, bottom);
  }

  function drawPath(chart, g) {
    const spec = chart.spec, pairs = spec.tracks.map((track) => [values(track.x), values(track.y), track]);
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    const grow = (x, y) => { if (x < x0) x0 = x; if (x > x1) x1 = x; if (y < y0) y0 = y; if (y > y1) y1 = y; };
    const [from, to] = [index(view[0]), index(view[1])];
    for (const [xs, ys] of pairs) for (let k = from; k < to; k++) if (!Number.isNaN(xs[k])) grow(xs[k], ys[k]);
    for (const step of spec.steps) if (step[0] >= view[0] && step[0] <= view[1]) grow(step[1], step[2]);
    if (!(x0 <= x1)) return;
    const scale = Math.min((chart.w - 80) / Math.max(x1 - x0, 0.3), (chart.h - 44) / Math.max(y1 - y0, 0.3));
    const X = (x) => chart.w / 2 + 14 + (x - (x0 + x1) / 2) * scale, Y = (y) => (chart.h - 18) / 2 - (y - (y0 + y1) / 2) * scale;
    const grid = nice(Math.max(chart.w, chart.h) / scale, 12);
    g.font = "11px system-ui, sans-serif"; g.strokeStyle = colour("grid"); g.fillStyle = colour("mute"); g.lineWidth = 1;
    const [left, right] = [(x) => (x - chart.w / 2 - 14) / scale + (x0 + x1) / 2, (y) => ((chart.h - 18) / 2 - y) / scale + (y0 + y1) / 2];
    for (let x = Math.ceil(left(0) / grid) * grid; x < left(chart.w); x += grid) {
      g.beginPath(); g.moveTo(X(x), 0); g.lineTo(X(x), chart.h - 16); g.stroke(); g.textAlign = "center"; g.fillText(x.toFixed(digits(grid)) + " m", X(x), chart.h - 5);
    }
    for (let y = Math.ceil(right(chart.h) / grid) * grid; y < right(0); y += grid) {
      g.beginPath(); g.moveTo(36, Y(y)); g.lineTo(chart.w, Y(y)); g.stroke(); g.textAlign = "right"; g.fillText(y.toFixed(digits(grid)) + " m", 34, Y(y) + 4);
    }
    for (const [t, x, y, leg] of spec.steps) {
      g.globalAlpha = t >= view[0] && t <= view[1] ? 0.8 : 0.12;
      g.fillStyle = colour("c" + (leg % 6)); g.beginPath(); g.arc(X(x), Y(y), 3.2, 0, 7); g.fill();
    }
    g.globalAlpha = 1;
    for (const [xs, ys, track] of pairs) {
      g.strokeStyle = colour(track.style); g.lineWidth = 1.6; g.beginPath();
      let pen = false;
      for (let k = from; k < to; k++) {
        if (Number.isNaN(xs[k])) { pen = false; continue; }
        if (pen) g.lineTo(X(xs[k]), Y(ys[k])); else g.moveTo(X(xs[k]), Y(ys[k])); pen = true;
      }
      g.stroke();
    }
    chart.place = (t) => { const k = Math.min(time.length - 1, index(t)); return [X(pairs[0][0][k]), Y(pairs[0][1][k])]; };
  }

  const DRAW = { lines: drawLines, lanes: drawLanes, path: drawPath };
  function draw(chart) {
    if (!prepare(chart)) return;
    const g = chart.base.getContext("2d");
    g.clearRect(0, 0, chart.w, chart.h); DRAW[chart.spec.kind](chart, g); chart.stale = false; overlay(chart);
  }

  function overlay(chart) {
    const g = chart.over.getContext("2d");
    g.clearRect(0, 0, chart.w, chart.h);
    if (cursor !== null) {
      g.strokeStyle = g.fillStyle = colour("text"); g.lineWidth = 1;
      if (chart.place) { const [x, y] = chart.place(cursor); g.beginPath(); g.arc(x, y, 5, 0, 7); g.stroke(); }
      else { const x = xOf(chart, cursor); if (x >= LEFT && x <= chart.w - RIGHT) { g.beginPath(); g.moveTo(x, 0); g.lineTo(x, chart.h - BOTTOM); g.stroke(); } }
    }
    if (chart.drag) { const [a, b] = chart.drag; g.globalAlpha = 0.18; g.fillStyle = colour("c0"); g.fillRect(Math.min(a, b), 0, Math.abs(b - a), chart.h - BOTTOM); g.globalAlpha = 1; }
    if (chart.outputs) chart.outputs.forEach((out, k) => {
      const curve = chart.spec.curves[k];
      out.textContent = cursor === null ? "" : " " + short(values(curve)[Math.max(0, Math.min(time.length, index(cursor + 1e-6)) - 1)]);
    });
  }

  let asked = false;
  function later(all) {
    if (all) charts.forEach((c) => { c.stale = true; });
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      for (const chart of charts) if (chart.shown) { if (chart.stale) draw(chart); else overlay(chart); }
      const span = view[0] > whole[0] || view[1] < whole[1] ? `showing ${view[0].toFixed(2)} to ${view[1].toFixed(2)} s (double click: all)` : "drag to zoom";
      document.querySelectorAll("nav output").forEach((o) => { o.textContent = (cursor === null ? "" : `t = ${cursor.toFixed(3)} s · `) + span; });
    });
  }
  function zoom(a, b) {
    view = [Math.max(whole[0], Math.min(a, b)), Math.min(whole[1], Math.max(a, b))];
    if (view[1] - view[0] < 0.01) view = whole.slice();
    later(true);
  }

  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const spec = data.charts[figure.dataset.chart];
    const chart = { spec, figure, plot: figure.querySelector(".plot"), stale: true, shown: false, drag: null };
    for (const name of ["base", "over"]) { chart[name] = document.createElement("canvas"); chart.plot.append(chart[name]); }
    if (spec.kind === "lines") chart.outputs = [...figure.querySelectorAll("figcaption b")];
    const place = (e) => e.clientX - chart.plot.getBoundingClientRect().left;
    if (spec.kind !== "path") {
      chart.plot.addEventListener("pointermove", (e) => {
        const x = place(e); cursor = Math.min(view[1], Math.max(view[0], tOf(chart, x)));
        if (chart.drag) chart.drag[1] = x;
        later(false);
      });
      chart.plot.addEventListener("pointerdown", (e) => { if (e.button === 0) { chart.drag = [place(e), place(e)]; chart.plot.setPointerCapture(e.pointerId); } });
      chart.plot.addEventListener("pointerup", () => {
        const drag = chart.drag; chart.drag = null;
        if (drag && Math.abs(drag[1] - drag[0]) > 6) zoom(tOf(chart, drag[0]), tOf(chart, drag[1])); else later(false);
      });
      chart.plot.addEventListener("pointerleave", () => { if (!chart.drag) { cursor = null; later(false); } });
    }
    chart.plot.addEventListener("dblclick", () => zoom(...whole));
    charts.push(chart);
  }
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) { const chart = charts.find((c) => c.figure === entry.target); chart.shown = entry.isIntersecting; }
    later(false);
  }, { rootMargin: "300px" });
  charts.forEach((c) => watch.observe(c.figure));

  for (const row of document.querySelectorAll("tr[data-t]")) row.addEventListener("click", () => {
    const t = Number(row.dataset.t), end = Number(row.dataset.end || t);
    cursor = t; zoom(t - 0.4, Math.min(end, t + 1.2) + 0.4);
  });
  window.addEventListener("keydown", (e) => {
    const span = view[1] - view[0], move = { ArrowLeft: -0.2, ArrowRight: 0.2 }[e.key];
    if (e.key === "Escape") zoom(...whole);
    else if (move && span < whole[1] - whole[0] && !e.altKey && !e.ctrlKey) { const by = Math.max(whole[0] - view[0], Math.min(whole[1] - view[1], move * span)); zoom(view[0] + by, view[1] + by); }
  });
  window.addEventListener("resize", () => later(true));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => later(true));
  window.addEventListener("beforeprint", () => { document.querySelectorAll("details").forEach((d) => { d.open = true; }); charts.forEach(draw); });
  window.reportReady = () => { charts.forEach(draw); return charts.length; };
  if (location.hash === "#all") window.addEventListener("load", () => { document.querySelectorAll("details").forEach((d) => { d.open = true; }); window.reportReady(); });
  later(true);
})();
