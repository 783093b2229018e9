document.querySelectorAll("th button").forEach(function (button) {
  button.addEventListener("click", function () {
    var head = button.parentElement, table = head.closest("table"), body = table.tBodies[0];
    var column = head.cellIndex, up = head.getAttribute("aria-sort") === "descending";
    var key = function (row) {
      var cell = row.cells[column], value = cell.getAttribute("data-v");
      return value === null ? cell.textContent : value === "" ? null : Number(value);
    };
    var rows = Array.prototype.slice.call(body.rows);
    rows.sort(function (a, b) {
      var x = key(a), y = key(b);  // null: an empty cell, below any number or text
      var order = x === y ? 0 : x === null ? -1 : y === null ? 1 : x < y ? -1 : x > y ? 1 : 0;
      return up ? order : -order;
    });
    table.querySelectorAll("th").forEach(function (th) { th.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.forEach(function (row) { body.appendChild(row); });
  });
});
