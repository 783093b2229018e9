// Style and script of the report, put into the page as they are. Colours keep a contrast of 4.5 for text and 3 for
// marks on both backgrounds.
#pragma once

namespace analysis {

inline constexpr const char* kReportStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--line:#d0d7de;--card:#f6f8fa;--accent:#0550ae;
--c0:#0969da;--c1:#bc4c00;--c2:#1a7f37;--c3:#8250df;--c4:#bf3989;--c5:#9a6700;--c6:#0e7490;--c7:#6e7781}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--soft:#9da7b3;--line:#3d444d;--card:#161b22;
--accent:#79c0ff;--c0:#58a6ff;--c1:#f0883e;--c2:#3fb950;--c3:#bc8cff;
--c4:#f778ba;--c5:#d29922;--c6:#39c5cf;--c7:#8b949e}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:70rem;padding:1rem;background:var(--bg);color:var(--fg);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:.2em 0}h2{font-size:1.2rem;margin:2em 0 .5em;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.5em 0 .3em}a{color:var(--accent)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:1rem 0}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.6rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.5rem .7rem}
.card dt{color:var(--soft);font-size:.85rem}.card dd{margin:0;font-size:1.2rem;font-weight:600;overflow-wrap:anywhere}
.card.long{grid-column:span 2}
.answer{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem;margin:.8rem 0;padding:.8rem 1rem;
border:1px solid var(--line);border-left:4px solid var(--accent);border-radius:.4rem}
.answer dt{font-weight:600}.answer dd{margin:0}code{font-size:.9em}
@media (max-width:30rem){.answer{grid-template-columns:1fr}}
@media print{nav{display:none}.wide{max-height:none}}
.wide{overflow-x:auto;max-height:32rem;overflow-y:auto;border:1px solid var(--line);border-radius:.4rem;margin:.8rem 0}
table{border-collapse:collapse;width:100%;font-size:.9rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.4rem .6rem;color:var(--soft)}
th,td{padding:.25rem .6rem;text-align:left;border-top:1px solid var(--line);vertical-align:top}
td{overflow-wrap:break-word;min-width:4rem}td:last-child:not(.r){min-width:14rem}
thead th{position:sticky;top:0;background:var(--card);white-space:nowrap}
.r{text-align:right}td.r{white-space:nowrap}th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid var(--accent)}
th[aria-sort=ascending] button::after{content:" \2191"}th[aria-sort=descending] button::after{content:" \2193"}
figure{margin:.8rem 0}figcaption{color:var(--soft);font-size:.9rem}.scroll{overflow-x:auto}
.chart,.bar{width:100%;height:auto;display:block;margin:.3rem 0}.chart{min-width:35rem}
.grid{stroke:var(--line);fill:none}
.tick{fill:var(--soft);font-size:12px;text-anchor:end}.tick.mid{text-anchor:middle}
.number{fill:var(--fg);font-size:12px;font-weight:600;text-anchor:middle}
.line{fill:none;stroke-width:2}.limit{fill:none;stroke:var(--fg);stroke-width:1.5;stroke-dasharray:5 4}
.heat{fill:var(--c0);shape-rendering:crispEdges}.mark{fill:var(--c0);fill-opacity:.7;stroke:var(--bg)}
.none{color:var(--soft)}
.s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)}
.s5{stroke:var(--c5)}.s6{stroke:var(--c6)}.s7{stroke:var(--c7)}
.a0{fill:var(--c0)}.a1{fill:var(--c1)}.a2{fill:var(--c2)}.a3{fill:var(--c3)}.a4{fill:var(--c4)}.a5{fill:var(--c5)}
.a6{fill:var(--c6)}.a7{fill:var(--c7)}
.b0{background:var(--c0)}.b1{background:var(--c1)}.b2{background:var(--c2)}.b3{background:var(--c3)}
.b4{background:var(--c4)}.b5{background:var(--c5)}.b6{background:var(--c6)}.b7{background:var(--c7)}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.3rem 0;font-size:.85rem}
.key{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px}
.warn{border-left:4px solid var(--c1);padding:.2rem .8rem;background:var(--card);margin:.4rem 0}
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

}  // namespace analysis
