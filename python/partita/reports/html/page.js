"use strict";
/* Optional: filters tests, and opens the source file that a link refers to. */
const filter = document.getElementById("filter");
if (filter) {
  const tests = Array.from(document.querySelectorAll(".tests > div"), (row) => [row, row.textContent.toLowerCase()]);
  const count = document.getElementById("matching");
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let matching = 0;
    for (const [row, text] of tests) {
      row.hidden = !words.every((word) => text.includes(word));
      matching += row.hidden ? 0 : 1;
    }
    count.textContent = words.length ? `${matching} of ${tests.length} match` : "";
  });
}
function open_target() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  const file = target && target.closest("details");
  if (file && !file.open) {
    file.open = true;
    target.scrollIntoView({ block: "center" });
  }
}
window.addEventListener("hashchange", open_target);
open_target();
