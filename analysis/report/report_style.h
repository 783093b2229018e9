// Style and script of the report, put into the page as they are. Colours keep a contrast of 4.5 for text and 3 for
// marks on both backgrounds.
#pragma once

namespace analysis {

inline constexpr const char* kReportStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--card:#f6f8fa;--accent:#0550ae;
--rest:#8c959f;--c0:#0969da;--c1:#bc4c00;--c2:#1a7f37;--c3:#8250df;--c4:#bf3989;--c5:#9a6700;--c6:#0e7490;
--c7:#6e7781}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9da7b3;--line:#3d444d;--card:#161b22;
--accent:#79c0ff;--rest:#6e7681;--c0:#58a6ff;--c1:#f0883e;--c2:#3fb950;--c3:#bc8cff;
--c4:#f778ba;--c5:#d29922;--c6:#39c5cf;--c7:#8b949e}}
*{box-sizing:border-box}html{scroll-padding-top:3.5rem}
body{margin:0 auto;max-width:74rem;padding:0 1rem 3rem;background:var(--bg);color:var(--fg);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere;print-color-adjust:exact;-webkit-print-color-adjust:exact}
h1{font-size:1.9rem;line-height:1.2;margin:1.2rem 0 .2rem}
h2{font-size:1.3rem;margin:2.6rem 0 .4rem;padding-top:.6rem;border-top:1px solid var(--line)}
section:first-of-type h2{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
h3{font-size:1rem;margin:1.3rem 0 .3rem}a{color:var(--accent)}p{margin:.5rem 0}
nav{position:sticky;top:0;z-index:2;display:flex;gap:.2rem 1rem;overflow-x:auto;margin:0 -1rem;padding:.6rem 1rem;
background:var(--bg);border-bottom:1px solid var(--line);font-size:.9rem}
nav a{white-space:nowrap;text-decoration:none}nav a:hover{text-decoration:underline}
.setting,.question{color:var(--soft)}.question{max-width:62rem}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.6rem;margin:1rem 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.5rem .7rem}
.card dt{color:var(--soft);font-size:.85rem}.card dd{margin:0;font-size:1.2rem;font-weight:600;overflow-wrap:anywhere}
.card.long{grid-column:span 2}
.answer{display:grid;grid-template-columns:max-content 1fr;gap:.5rem 1.2rem;margin:1rem 0;padding:1rem 1.2rem;
background:var(--card);border:1px solid var(--line);border-left:5px solid var(--accent);border-radius:.5rem;
font-size:1.06rem}
.answer dt{font-weight:600}.answer dd{margin:0}
code{font:.9em ui-monospace,monospace;padding:.1em .3em;border-radius:.3em;background:var(--bg);
border:1px solid var(--line)}
.words{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.2rem}.words dt{font-weight:600}
.words dd{margin:0}
.wide{overflow-x:auto;max-height:32rem;overflow-y:auto;border:1px solid var(--line);border-radius:.5rem;
margin:.5rem 0}
details{margin:.4rem 0}summary{cursor:pointer;color:var(--accent);padding:.2rem 0}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.4rem .6rem;color:var(--soft)}
th,td{padding:.25rem .6rem;text-align:left;border-top:1px solid var(--line);vertical-align:top}
td{overflow-wrap:break-word;min-width:4rem}td:last-child:not(.r){min-width:14rem}
thead th{position:sticky;top:0;background:var(--card);white-space:nowrap}
.r{text-align:right}td.r{white-space:nowrap}th button{all:unset;cursor:pointer;font-weight:600}
:focus-visible,th button:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
th[aria-sort=ascending] button::after{content:" \2191"}th[aria-sort=descending] button::after{content:" \2193"}
figure{margin:.9rem 0}figcaption{color:var(--soft);font-size:.9rem;margin-bottom:.3rem}
.chart{width:100%;height:auto;display:block;margin:.3rem 0}.narrow{display:none}
.grid{stroke:var(--line);fill:none}
.tick{fill:var(--soft);font-size:12px;text-anchor:end}.tick.mid{text-anchor:middle}.tick.begin{text-anchor:start}
.number{fill:var(--fg);font-size:12px;font-weight:600;text-anchor:middle}
.line{fill:none;stroke-width:2}.limit{fill:none;stroke:var(--fg);stroke-width:1.5;stroke-dasharray:5 4}
.heat{fill:var(--c0);shape-rendering:crispEdges}.mark{fill:var(--c0);fill-opacity:.7;stroke:var(--bg)}
.none{color:var(--soft)}
.parts{display:flex;height:2.2rem;border-radius:.4rem;overflow:hidden}.parts span{min-width:1px}
.bars{list-style:none;margin:0;padding:0;display:grid;
grid-template-columns:minmax(6rem,max-content) 1fr max-content;gap:.35rem .8rem;
font-size:.92rem;align-items:center}
.bars li{display:grid;grid-template-columns:subgrid;grid-column:1/-1;align-items:center}
.flag{display:inline-block}.bars .name{max-width:27rem}.bars .text{font-variant-numeric:tabular-nums;color:var(--soft)}
.track{height:1.1rem;background:var(--card);border-radius:.3rem;overflow:hidden}
.track span{display:block;height:100%;min-width:2px;background:var(--c0);border-radius:.3rem}
.soft .track span{background:var(--rest)}.best .track span{background:var(--c2)}.best .name{font-weight:600}
.timeline canvas{width:100%;height:250px;display:block;border:1px solid var(--line);border-radius:.5rem;
touch-action:pan-y}
.timeline output{display:block;min-height:3em;color:var(--soft);font-size:.9rem;margin-top:.3rem}
.tools{display:flex;flex-wrap:wrap;gap:.4rem;margin:.3rem 0}
.tools button{font:inherit;font-size:.9rem;padding:.15rem .7rem;border:1px solid var(--line);border-radius:.4rem;
background:var(--card);color:var(--fg);cursor:pointer}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}
.s5{stroke:var(--c5)}.s6{stroke:var(--c6)}.s7{stroke:var(--c7)}
.a0{fill:var(--c0)}.a1{fill:var(--c1)}.a2{fill:var(--c2)}.a3{fill:var(--c3)}.a4{fill:var(--c4)}.a5{fill:var(--c5)}
.a6{fill:var(--c6)}.a7{fill:var(--c7)}
.b0{background:var(--c0)}.b1{background:var(--c1)}.b2{background:var(--c2)}.b3{background:var(--c3)}
.b4{background:var(--c4)}.b5{background:var(--c5)}.b6{background:var(--c6)}.b7{background:var(--c7)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.3rem 0;font-size:.85rem}
.key{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}
.warn{border-left:4px solid var(--c1);padding:.2rem .8rem;background:var(--card);margin:.4rem 0}
@media (min-width:110rem){body{max-width:100rem;font-size:17px}}
@media (max-width:40rem){h1{font-size:1.5rem}.answer,.words{grid-template-columns:1fr;gap:.1rem}
.answer dd,.words dd{margin-bottom:.5rem}
.roomy{display:none}.narrow{display:block}.bars{grid-template-columns:1fr max-content;gap:.1rem .6rem}
.bars li{margin-bottom:.3rem}.bars .name{grid-column:1/-1}}
@media print{.tick,.number{font-size:13.5px}nav,.tools,details,.timeline output{display:none}body{max-width:none;
font-size:11pt}
figure,.answer,.card,tr{break-inside:avoid}h2{break-after:avoid}.wide{max-height:none;overflow:visible}}
)css";

/// A click on a heading sorts its table: numbers by the value of `data-v`, text by its letters.
inline constexpr const char* kReportScript = R"js(
document.querySelectorAll("th button").forEach(function (button) {
  button.addEventListener("click", function () {
    var head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    var column = head.cellIndex, up = head.getAttribute("aria-sort") === "descending";
    var key = function (row) {
      var cell = row.cells[column], value = cell.getAttribute("data-v");
      return value === null ? cell.textContent : value === "" ? -Infinity : Number(value);
    };
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (a, b) {
      var x = key(a), y = key(b), order = x < y ? -1 : x > y ? 1 : 0;
      return up ? order : -order;
    });
    table.querySelectorAll("th").forEach(function (th) { th.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.forEach(function (row) { body.appendChild(row); });
  });
});
)js";

/// A step on a canvas: lanes for phases, layers, engines, DMA and collectives; moves by drag, wheel, buttons and keys.
inline constexpr const char* kTimelineScript = R"js(
document.querySelectorAll(".timeline").forEach(function (figure) {
  var data = JSON.parse(figure.querySelector("script").textContent), canvas = figure.querySelector("canvas");
  var output = figure.querySelector("output"), said = output.textContent, from = 0, to = data.total, grabbed = null;
  var engines = ["tensor", "vector", "scalar", "gpsimd", "sync", "dma"];
  var lanes = ["phase", "layer"].concat(engines, ["collectives"]), left = 76, high = 24, colours = {};
  function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(); }
  function time(us) { var n = us >= 1e6 ? [us / 1e6, " s"] : us >= 1e3 ? [us / 1e3, " ms"] : [us, " us"];
    return Number(n[0].toPrecision(5)) + n[1]; }
  function place(us) { return left + (us - from) / (to - from) * (canvas.clientWidth - left); }
  function at(x) { return from + (x - left) / (canvas.clientWidth - left) * (to - from); }
  function box(pen, lane, begin, length, fill, alpha, text) {
    var x = Math.max(left, place(begin)), end = Math.min(canvas.clientWidth, place(begin + length));
    if (end < left || x > canvas.clientWidth) return;
    pen.globalAlpha = alpha; pen.fillStyle = fill;
    // Of more boxes than there are pixels each has its own width, or all would look full.
    var least = lane === 8 && data.collectives.length > canvas.clientWidth ? 0 : 0.6;
    pen.fillRect(x, lane * high + 2, Math.max(end - x - (end - x > 3 ? 1 : 0), least), high - 4);
    pen.globalAlpha = 1;
    if (!text || end - x < 7 * text.length + 8) return;
    pen.fillStyle = colours.bg; pen.textAlign = "left"; pen.fillText(text, x + 4, lane * high + 16);
  }
  function calls(pen) {
    data.calls.forEach(function (c) {
      if (c[0] > to || c[0] + c[1] < from) return;
      box(pen, 0, c[0], c[1], colours["c" + c[4] % 8], 1, data.names[c[4]]);
      if (c[3] >= 0) box(pen, 1, c[0], c[1], colours.c3, c[3] % 2 ? 1 : 0.65, String(c[3]));
      for (var e = 0; e < 6; ++e) if (c[5 + e]) box(pen, 2 + e, c[0], c[1], colours.c0, c[5 + e] / 100);
    });
    data.collectives.forEach(function (c) { box(pen, 8, c[0], c[1], colours.c1, c[4] / 100, data.names[c[2]]); });
  }
  function draw() {
    var scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = lanes.length * high + 26;
    ["bg", "fg", "soft", "line", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"].forEach(function (n) {
      colours[n] = colour(n);
    });
    canvas.style.height = height + "px"; canvas.width = width * scale; canvas.height = height * scale;
    var pen = canvas.getContext("2d");
    pen.scale(scale, scale); pen.font = "12px system-ui, sans-serif";
    calls(pen);
    pen.fillStyle = colours.soft; pen.textAlign = "right";
    lanes.forEach(function (name, i) { pen.fillText(name, left - 8, i * high + 16); });
    var ticks = width > 600 ? 6 : 2;
    for (var i = 0; i <= ticks; ++i) {
      pen.textAlign = i === ticks ? "right" : i ? "center" : "left";
      pen.fillText(time(from + (to - from) * i / ticks), left + (width - left) * i / ticks, height - 8);
    }
  }
  function show(begin, end) {
    var length = Math.min(Math.max(end - begin, data.total / 1e5), data.total);
    from = Math.min(Math.max(begin, 0), data.total - length); to = from + length;
    draw();
  }
  function zoom(factor, middle) { show(middle - (middle - from) * factor, middle + (to - middle) * factor); }
  function act(what) {
    var part = (to - from) / 4, middle = (from + to) / 2;
    if (what === "in") zoom(0.5, middle);
    if (what === "out") zoom(2, middle);
    if (what === "left") show(from - part, to - part);
    if (what === "right") show(from + part, to + part);
    if (what === "all") show(0, data.total);
  }
  function gap(when, collective) {
    var begin = 0, end = data.total;
    data.calls.forEach(function (c) {
      if (c[0] + c[1] <= when) begin = Math.max(begin, c[0] + c[1]);
      if (c[0] > when) end = Math.min(end, c[0]);
    });
    return "no call for " + time(end - begin) + " from " + time(begin) +
      (collective ? ": waits for " + data.names[collective[2]] : "");
  }
  function tell(event) {
    var rect = canvas.getBoundingClientRect(), when = at(event.clientX - rect.left);
    var lane = Math.floor((event.clientY - rect.top) / high), found;
    var inside = function (c) { return c[0] <= when && when < c[0] + c[1]; };
    if (when < 0 || when > data.total) return said;
    var collective = data.collectives.find(inside);
    if (lane === 8 && collective) return data.names[collective[2]] + ", " + collective[3] + " bytes: " +
      time(collective[1]) + " from " + time(collective[0]);
    found = data.calls.find(inside);
    if (!found) return gap(when, collective);
    return data.names[found[4]] + ", " + data.names[found[2]] + (found[3] >= 0 ? ", layer " + found[3] : "") + ": " +
      time(found[1]) + " from " + time(found[0]) + "; busy: " +
      engines.map(function (e, i) { return e + " " + found[5 + i] + " %"; }).join(", ");
  }
  figure.querySelectorAll("button").forEach(function (b) {
    b.addEventListener("click", function () { act(b.dataset.do); });
  });
  canvas.addEventListener("keydown", function (event) {
    var what = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", "0": "all" }[event.key];
    if (what) { act(what); event.preventDefault(); }
  });
  canvas.addEventListener("wheel", function (event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, at(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("dblclick", function (event) { zoom(0.5, at(event.offsetX)); });
  canvas.addEventListener("pointerdown", function (event) {
    grabbed = at(event.offsetX);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointerup", function () { grabbed = null; });
  canvas.addEventListener("pointermove", function (event) {
    if (grabbed === null) { output.textContent = tell(event); return; }
    var move = grabbed - at(event.offsetX);
    show(from + move, to + move);
  });
  window.addEventListener("resize", draw);
  window.addEventListener("beforeprint", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();
});
)js";

}  // namespace analysis
