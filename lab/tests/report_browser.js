// SPDX-License-Identifier: BSL-1.0
//
// What only a browser knows about a report: whether a plot was drawn, and whether it fits.
//
// report_browser.py adds this to a copy of the page. First one page after the other is shown, as the links
// at the top do, then all of them together, and all plots are examined. The answer stands in the document
// as text, because that is what a browser without a window can be asked for.
const problems = [];
const say = (problem) => { if (problems.length < 40) problems.push(problem); };
window.addEventListener("error", (event) => say(`script: ${event.message}`));

const named = (svg) => `${svg.closest("section")?.id ?? "?"}, ${svg.getAttribute("aria-label")}`;
const overlap = (a, b) =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;

function checkPlot(svg) {
  const box = svg.getBBox();
  const place = svg.getBoundingClientRect();
  if (!(box.width > 0 && box.height > 0 && place.width > 0)) return say(`nothing drawn: ${named(svg)}`);
  if (svg.querySelectorAll("path, use").length < 8) say(`next to nothing drawn: ${named(svg)}`);
  if (place.right > document.documentElement.clientWidth + 0.5) say(`wider than the page: ${named(svg)}`);
  if (!svg.closest("figure")?.querySelector("figcaption")?.textContent) say(`no caption: ${named(svg)}`);
  checkText(svg, place);
}

function checkText(svg, place) {
  const texts = [...svg.querySelectorAll("text")].filter((each) => each.textContent);
  const boxes = texts.map((each) => each.getBoundingClientRect());
  boxes.forEach((box, index) => {
    const text = texts[index].firstChild.textContent;
    const outside = box.left < place.left - 0.5 || box.right > place.right + 0.5 ||
      box.top < place.top - 1.5 || box.bottom > place.bottom + 1.5;
    if (outside) say(`cut off, "${text}": ${named(svg)}`);
    if (box.height < 8) say(`too small to read, "${text}": ${named(svg)}`);
    for (let other = index + 1; other < boxes.length; ++other)
      if (overlap(box, boxes[other]))
        say(`"${text}" on "${texts[other].firstChild.textContent}": ${named(svg)}`);
  });
}

// Which pages an address shows, and how high they are.
function show(hash) {
  location.hash = hash;
  return [...document.querySelectorAll(".page")].filter((each) => each.getClientRects().length > 0);
}

function checkPages() {
  const heights = {};
  const links = [...document.querySelectorAll('a[href^="#"]')].map((each) => each.hash);
  for (const hash of new Set(links)) {
    const target = document.getElementById(hash.slice(1));
    if (!target) { say(`leads nowhere: ${hash}`); continue; }
    const shown = show(hash);
    const page = target.closest(".page");
    if (shown.length !== 1 || shown[0] !== page) say(`${hash} shows ${shown.length} pages or another one`);
    heights[page.id] = document.documentElement.scrollHeight;
    checkWidth(page.id);
  }
  const first = show("");
  if (first.length !== 1 || first[0].id !== "front") say("without a name another page is shown first");
  return heights;
}

function checkWidth(page) {
  const width = document.documentElement.scrollWidth;
  if (width > document.documentElement.clientWidth) say(`${page} is ${width} wide and scrolls sideways`);
}

window.addEventListener("load", () => {
  const heights = checkPages();
  document.documentElement.className = "all";
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  checkWidth("all together");
  const plots = [...document.querySelectorAll("svg[role=img]")];
  plots.forEach(checkPlot);
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  if (new Set(ids).size !== ids.length) say("an id stands there twice");
  const answer = document.createElement("pre");
  answer.id = "answer";
  answer.textContent = JSON.stringify({
    plots: plots.length, heights, width: document.documentElement.clientWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches, problems,
  });
  document.body.append(answer);
});
