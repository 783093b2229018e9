document.querySelectorAll(".timeline").forEach(function (figure) {
  var data = JSON.parse(figure.querySelector("script").textContent), canvas = figure.querySelector("canvas");
  var output = figure.querySelector("output"), said = output.textContent, from = 0, to = data.total, grabbed = null;
  var phases = ["forward", "backward", "optimizer", "communication"];  // their colours, as in the bar of phases
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
      box(pen, 0, c[0], c[1], colours["c" + phases.indexOf(data.names[c[4]])] || colours.c4, 1, data.names[c[4]]);
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
    var rough = (to - from) / (width > 600 ? 7 : 3), power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = power * (rough < 2 * power ? 2 : rough < 5 * power ? 5 : 10);  // round times, as the other charts have
    for (var tick = Math.ceil(from / step); tick * step <= to; ++tick) {
      var x = place(tick * step);
      pen.textAlign = x < left + 24 ? "left" : x > width - 24 ? "right" : "center";
      pen.fillText(time(tick * step), x, height - 8);
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
