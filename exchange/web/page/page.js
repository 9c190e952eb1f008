// SPDX-License-Identifier: BSL-1.0
//
// Up to four connections: to this server for the figures of the processes and, for an operator, for commands
// (exchange/web/operator_desk.hpp); to a distributor for what is public, and to the gateway for trading, both
// in JSON as exchange/docs/json_protocol.md has it. Text of others becomes text of the page only by textContent.
"use strict";
const at = (id) => document.getElementById(id);
const svg = (name, attributes, text = "") => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
};
const grouped = (value) => Number(value).toLocaleString("en").replaceAll(",", "\u202f");
const levelsShown = 200, fillsShown = 200, ordersShown = 500, printsShown = 100, levelsDrawn = 1000;

function row(cells, classes = []) {
  const made = document.createElement("tr");
  cells.forEach((cell, each) => {
    const place = made.insertCell();
    if (classes[each]) place.className = classes[each];
    if (cell instanceof Node) place.append(cell); else place.textContent = cell;
  });
  return made;
}
function link(which, on, words) {
  at(`link-${which}`).dataset.state = on ? "on" : "off";
  at(`link-${which}`).querySelector("span").textContent = words;
}
// What acts is a button that is pressed, and no key in a field.
function onButtons(form, act) {
  at(form).onsubmit = (event) => event.preventDefault();
  for (const button of at(form).querySelectorAll("button"))
    button.onclick = () => { if (at(form).reportValidity()) act(button.dataset); };
}
function say(words) { at("said").textContent = words; }
// Half a second, then twice as long each time, up to 15 seconds.
function patience() {
  let next = 500;
  return { reset() { next = 500; }, take() { const now = next * (0.75 + Math.random() / 2); next = Math.min(next * 2, 15000); return now; } };
}

// --- Figures of the processes -------------------------------------------------------------------------
let tradeAt = null;
const processes = new Map();  // By name: what was told last, and latencies of the last ten seconds.
const liveWait = patience();

const sessionClasses = ["word", "word", "word"];
// What a process' throughput is.
const countedBy = { matching_facility: "commands", order_entry_gateway: "messages_forwarded", market_data_distributor: "messages" };
const pastShown = 120000;
let charted = false;

function panelOf(name) {
  const known = processes.get(name);
  if (known) return known;
  const panel = document.createElement("div"), title = document.createElement("h3");
  const facts = document.createElement("p"), wrap = document.createElement("div"), table = document.createElement("table");
  const tasks = document.createElement("details"), head = document.createElement("summary"), dump = document.createElement("pre");
  panel.className = "process";
  title.className = "state";
  wrap.className = "scroll-x";
  table.createTHead().append(row(["Session", "Transport", "Address", "Next", "Unread bytes", "Dropped"], sessionClasses));
  table.createTBody();
  head.textContent = "Tasks";
  dump.tabIndex = 0;
  tasks.append(head, dump);
  tasks.addEventListener("toggle", async () => {
    if (!tasks.open) return;
    dump.textContent = "Asking\u2026";
    try { dump.textContent = await (await fetch(`/processes/${encodeURIComponent(name)}/tasks`)).text(); }
    catch { dump.textContent = "The page's server is not connected."; }
  });
  wrap.append(table);
  panel.append(title, facts, wrap, tasks);
  at("processes").append(panel);
  const made = { name, panel, title, facts, table, pid: 0, counts: null, when: 0, history: [], past: [] };
  processes.set(name, made);
  return made;
}

function fact(name, value, more = "") {
  const made = document.createElement("span"), figure = document.createElement("b");
  figure.textContent = value;
  made.append(name ? `${name} ` : "", figure, more ? ` ${more} ` : " ");
  return made;
}

function showProcess(it) {
  const to = panelOf(it.name), status = it.status, now = status?.uptime_ms ?? 0;
  to.title.dataset.state = it.reachable && status.state === "ready" ? "on" : "off";
  to.title.textContent = it.reachable ? `${it.name} \u2014 ${status.state}` : `${it.name} \u2014 not connected`;
  // Another process counts from nothing; times are its own, since answers wait on their way.
  if (!it.reachable || to.pid !== status.pid || status.uptime_ms < to.when) {
    to.history = [];
    to.past = [];
    to.counts = null;
    to.when = 0;
    to.pid = it.reachable ? status.pid : 0;
  }
  if (!it.reachable) {
    to.facts.textContent = "Its admin port does not answer.";
    to.table.hidden = true;
    return;
  }
  const counts = status.counts ?? {}, facts = [fact("", `${status.backend ?? ""}, process ${status.pid}`), fact("up", `${Math.floor(status.uptime_ms / 1000)} s`)];
  for (const [name, value] of Object.entries(counts)) {
    const before = to.counts?.[name], rate = before === undefined || status.gauges?.includes(name) || now === to.when ? 0 : (value - before) * 1000 / (now - to.when);
    facts.push(fact(name.replaceAll("_", " "), grouped(value), rate >= 1 ? `${grouped(Math.round(rate))}/s` : ""));
  }
  to.facts.replaceChildren(...facts);
  to.counts = counts;
  to.when = now;
  const sessions = status.sessions ?? [];
  to.table.hidden = sessions.length === 0;
  to.table.tBodies[0].replaceChildren(...sessions.slice(0, 200).map((each) =>
    row([each.user, each.transport || "\u2014", each.address || "away", each.sequence, grouped(each.unread_bytes ?? 0), grouped(each.dropped ?? 0)], sessionClasses)));
  if (it.latency?.buckets) to.history.push({ when: now, buckets: it.latency.buckets });
  while (to.history.length > 2 && now - to.history[0].when > 10000) to.history.shift();
  if (to.past.length > 0 && now - to.past.at(-1).when < 950) return;
  to.past.push({ when: now, count: counts[countedBy[status.process]], buckets: it.latency?.buckets });
  while (now - to.past[0].when > pastShown) to.past.shift();
}

// What was measured between two readings: bounds and counts, the least first.
function measuredBetween(first, last) {
  const before = new Map(first);
  return last.map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]).filter(([, count]) => count > 0).sort((a, b) => a[0] - b[0]);
}
function totalOf(counts) { return counts.reduce((sum, [, count]) => sum + count, 0); }
// A bound that this share of them, 0 to 1, does not exceed.
function quantile(counts, share) {
  const wanted = share * totalOf(counts);
  let sum = 0;
  for (const [bound, count] of counts) if ((sum += count) >= wanted) return bound;
  return null;
}
function inMicroseconds(ns) { return `${grouped(Math.ceil(ns / 1000))} \u00b5s`; }
const latencyTicks = [["1 \u00b5s", 1e3], ["10 \u00b5s", 1e4], ["100 \u00b5s", 1e5], ["1 ms", 1e6], ["10 ms", 1e7], ["100 ms", 1e8], ["1 s", 1e9]];
function latencyHeight(ns) { return Math.min(1, Math.max(0, (Math.log10(ns) - 3) / 6)); }

// An empty chart of its card's width, in which letters keep their size, with lines at these heights, 0 to 1.
function prepareChart(chart, heights) {
  const width = Math.max(320, Math.min(1200, chart.clientWidth || 800));
  chart.setAttribute("viewBox", `0 0 ${width} 180`);
  const y = (height) => 150 - 130 * height, parts = [];
  for (const [name, height] of heights) parts.push(svg("line", { x1: 60, x2: width - 20, y1: y(height), y2: y(height) }), svg("text", { x: 54, y: y(height) + 4, "text-anchor": "end" }, name));
  return { width, y, parts };
}
// Lines and, in the same colours, their words.
function finishChart(id, parts, lines, otherwise) {
  lines.forEach((each, colour) => parts.push(svg("path", { d: each.path, class: `p${colour % 3}` })));
  at(id).replaceChildren(...parts);
  const words = lines.map((each, colour) => {
    const word = document.createElement("span");
    word.className = `p${colour % 3}`;
    word.textContent = each.words;
    return word;
  });
  at(`${id}-legend`).replaceChildren(...(words.length > 0 ? words : [otherwise]));
}

// Lines of [age, value] over the last minutes.
function showPast(id, series, heights, heightOf, otherwise) {
  const { width, y, parts } = prepareChart(at(id), heights);
  const x = (age) => width - 20 - (width - 80) * age / pastShown;
  for (const seconds of [120, 90, 60, 30, 0]) parts.push(svg("text", { x: x(seconds * 1000), y: 168, "text-anchor": "middle" }, seconds === 0 ? "now" : `${seconds} s`));
  const lines = series.map(({ words, points }) => ({ words, path: points.map(([age, value], each) => `${each === 0 ? "M" : "L"}${Math.max(60, x(age))} ${y(heightOf(value))}`).join("") }));
  finishChart(id, parts, lines, otherwise);
}
// What each two neighbours of what is remembered come to, where that is something.
function steps(past, value) {
  return past.slice(1).map((it, each) => [past.at(-1).when - it.when, value(past[each], it)]).filter(([, it]) => it !== null);
}
function showThroughput() {
  const series = [];
  for (const it of processes.values()) {
    const points = steps(it.past, (first, last) => last.count === undefined ? null : (last.count - first.count) * 1000 / (last.when - first.when));
    if (points.length > 0) series.push({ name: it.name, points, words: `${it.name}: ${grouped(Math.round(points.at(-1)[1]))}/s` });
  }
  const most = Math.max(10, ...series.flatMap(({ points }) => points.map(([, value]) => value)));
  const top = [1, 2, 5, 10].map((each) => each * 10 ** Math.floor(Math.log10(most))).find((each) => each >= most);
  showPast("throughput", series, [0, 0.5, 1].map((each) => [grouped(top * each), each]), (value) => value / top, "Nothing is known yet.");
}
function showLatencyPast() {
  const series = [];
  for (const it of processes.values())
    for (const [name, share] of [["median", 0.5], ["99 %", 0.99], ["99.9 %", 0.999]]) {
      const points = steps(it.past, (first, last) => first.buckets && last.buckets ? quantile(measuredBetween(first.buckets, last.buckets), share) : null);
      if (points.length > 0) series.push({ points, words: `${it.name}, ${name}: at most ${inMicroseconds(points.at(-1)[1])}` });
    }
  showPast("latency-past", series, latencyTicks.map(([name, ns]) => [name, latencyHeight(ns)]), latencyHeight, "No process measures latency yet.");
}

function showLatency() {
  const { width, y, parts } = prepareChart(at("latency"), latencyTicks.map(([name, ns]) => [name, latencyHeight(ns)])), lines = [];
  const x = (share) => 60 + (width - 80) * Math.min(1, Math.log10(1 / (1 - share)) / 4.2);
  for (const [name, share] of [["50", 0.5], ["90", 0.9], ["99", 0.99], ["99.9", 0.999], ["99.99", 0.9999]])
    parts.push(svg("line", { x1: x(share), x2: x(share), y1: 20, y2: 150 }), svg("text", { x: x(share), y: 168, "text-anchor": "middle" }, `${name} %`));
  for (const it of processes.values()) {
    if (it.history.length < 2) continue;
    const counts = measuredBetween(it.history[0].buckets, it.history.at(-1).buckets), total = totalOf(counts);
    if (total <= 0) continue;
    let sum = 0, path = "";
    for (const [bound, count] of counts) {
      const from = sum / total, height = y(latencyHeight(bound));
      sum += count;
      path += `${path ? "L" : "M"}${x(from)} ${height}L${x(Math.min(sum / total, 1 - 1 / (2 * total)))} ${height}`;
    }
    const [median, most] = [0.5, 0.99].map((share) => inMicroseconds(quantile(counts, share)));
    lines.push({ path, words: `${it.name}: ${grouped(total)} measured, median at most ${median}, 99 % at most ${most}` });
  }
  finishChart("latency", parts, lines, "Nothing was measured in the last ten seconds.");
}
function showCharts() {
  charted = false;
  showThroughput();
  showLatencyPast();
  showLatency();
}
function showChartsSoon() { if (!charted) { charted = true; requestAnimationFrame(showCharts); } }

function watch() {
  const socket = new WebSocket(`ws://${location.host}/live`);
  socket.onopen = () => { liveWait.reset(); link("page", true, "connected"); };
  socket.onmessage = (event) => {
    const it = JSON.parse(event.data);
    if (it.message === "settings") {
      tradeAt = it.order_entry;
      if (it.market_data && !marketAt) { marketAt = it.market_data; watchMarkets(); }
      at("operator-card").hidden = at("link-operator").hidden = !it.operators;
      document.body.dataset.ready = "yes";
    }
    if (it.message === "process") { showProcess(it); showChartsSoon(); }
  };
  socket.onclose = () => {
    link("page", false, "not connected, trying again");
    for (const each of processes.values()) { each.title.dataset.state = "off"; each.title.textContent = `${each.name} \u2014 not known`; }
    setTimeout(watch, liveWait.take());
  };
}

// --- What is public -----------------------------------------------------------------------------------
let marketAt = null, market = null, followed = 0, drawn = false;
const levels = { buy: new Map(), sell: new Map() };  // Of the book that is shown, by price.
const markets = new Map();                           // Sums by instrument.
const prints = [];                                   // Trades of all, the newest first.
const marketWait = patience();

function tellMarket(message, fields) { if (market?.readyState === WebSocket.OPEN) market.send(JSON.stringify({ message, ...fields })); }
function clearBook() { levels.buy.clear(); levels.sell.clear(); sides.buy = []; sides.sell = []; }
function showMarketsSoon() { if (!drawn) { drawn = true; requestAnimationFrame(showMarkets); } }
// The whole of one book, and of all others what fits a row.
function follow() {
  if (!(instrument() > 0)) return;
  if (followed > 0 && followed !== instrument()) tellMarket("subscribe", { request: 2, instrument: followed, depth: 0, book: false, trades: true, summary: true });
  followed = instrument();
  tellMarket("subscribe", { request: 3, instrument: followed, depth: 0, book: true, trades: true, summary: true });
}

function showMarkets() {
  drawn = false;
  const of = markets.get(instrument());
  at("phase").textContent = of ? `${of.phase.replaceAll("_", " ")}${of.complete ? "" : ", not all of it is known"}` : "";
  const best = (side, sign) => [...levels[side].values()].sort((a, b) => sign * (a.price - b.price));
  sides.buy = best("buy", -1);
  sides.sell = best("sell", 1);
  showBook();
  const figure = (it, value) => it.trades > 0 ? grouped(value) : "\u2014";
  at("markets").tBodies[0].replaceChildren(...[...markets.values()].sort((a, b) => a.instrument - b.instrument).map((it) =>
    row([it.instrument, it.phase.replaceAll("_", " "), figure(it, it.last), figure(it, it.open), figure(it, it.high), figure(it, it.low), grouped(it.volume), grouped(it.trades)], [, "word"])));
  if (markets.size === 0) at("markets").tBodies[0].append(none(8, "No market is known yet."));
  at("prints").tBodies[0].replaceChildren(...prints.map((it) =>
    row([new Date(Number(BigInt(it.time) / 1000000n)).toLocaleTimeString("en-GB"), it.instrument, it.busted ? "undone" : it.aggressor, grouped(it.price), grouped(it.quantity)], ["word", , `word ${it.aggressor === "buy" ? "bid" : "ask"}`])));
  if (prints.length === 0) at("prints").tBodies[0].append(none(5, "No trade since this page was opened."));
}

function takeLevels(it) {
  if (it.instrument !== instrument()) return;
  if (it.message === "book_snapshot" && it.first) clearBook();
  for (const each of it.levels)
    if (each.orders === 0) levels[each.side].delete(each.price);
    else levels[each.side].set(each.price, each);
  if (it.last) showMarketsSoon();
}
const published = {
  login_accepted(it) {
    marketWait.reset();
    link("market", true, `life ${it.session}`);
    markets.clear();
    prints.length = followed = 0;
    clearBook();
    tellMarket("subscribe", { request: 1, depth: 0, book: false, trades: true, summary: true });
    showMarketsSoon();
  },
  // All that there are; one that has not been spoken of yet is followed with its first message.
  subscribed(it) { if (it.request === 1) follow(); },
  subscription_refused(it) { if (it.request === 3) followed = 0; },
  login_rejected(it) { link("market", false, it.reason.replaceAll("_", " ")); },
  market_summary(it) {
    markets.set(it.instrument, it);
    if (followed !== instrument() && it.instrument === instrument()) follow();
    showMarketsSoon();
  },
  trades_printed(it) {
    for (const each of it.trades) prints.unshift({ ...each, instrument: it.instrument });
    prints.length = Math.min(prints.length, printsShown);
    showMarketsSoon();
  },
  book_snapshot: takeLevels,
  book_delta: takeLevels,
};
function watchMarkets() {
  let beat = 0;
  at("link-market").hidden = at("prints-card").hidden = at("markets-card").hidden = false;
  market = new WebSocket(marketAt, "exchange.json.v1");
  market.onopen = () => {
    tellMarket("login", { username: "page", password: "page" });
    beat = setInterval(() => tellMarket("heartbeat"), 1000);
  };
  market.onmessage = (event) => { const it = JSON.parse(event.data); published[it.message]?.(it); };
  market.onclose = () => {
    clearInterval(beat);
    clearBook();
    markets.clear();
    showMarketsSoon();
    link("market", false, "not connected, trying again");
    setTimeout(watchMarkets, marketWait.take());
  };
}

// --- Trading ------------------------------------------------------------------------------------------
const orders = new Map();     // Orders of the account that rest, by `keyOf`.
const orderRows = new Map();  // Of these, by the same.
const fills = [];             // Own trades, the newest first.
const sides = { buy: [], sell: [] };
const tradeWait = patience();
let gone = null;  // Orders that ended while those that rest are being asked for.
let newest = false;  // The beginning of the stream is not kept any more: what rests is asked for instead.
let socket = null, credentials = null, life = "", next = 1, number = 0, beat = 0, ask = 0, steady = 0, mayTrade = false, changed = false, centred = false;

function send(message, fields) { if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ message, ...fields })); }
function instrument() { return Number(at("instrument").value); }
function allow(yes) {
  mayTrade = yes;
  for (const button of at("order").querySelectorAll("button")) button.disabled = !yes;
}
function askBook() {
  if (marketAt || !(instrument() > 0)) return;  // Else the distributor tells it as it changes.
  for (const side of ["buy", "sell"])
    send("book_request", { instrument: instrument(), side, from: side === "buy" ? 140737488355327 : -140737488355327 });
}

function showBook() {
  const rows = [], count = Math.min(levelsShown, Math.max(sides.buy.length, sides.sell.length));
  for (const it of sides.sell.slice(0, count).reverse()) rows.push(row(["", "", grouped(it.price), grouped(it.quantity), it.orders], [, , "ask"]));
  for (const it of sides.buy.slice(0, count)) rows.push(row([it.orders, grouped(it.quantity), grouped(it.price), "", ""], [, , "bid"]));
  const box = at("book-scroll");
  at("book").tBodies[0].replaceChildren(...rows);
  if (!centred && sides.buy.length > 0 && sides.sell.length > 0) {
    centred = true;
    box.scrollTop = (box.scrollHeight - box.clientHeight) / 2;  // The best prices are in the middle.
  }
  const buys = sides.buy.slice(0, levelsDrawn), sells = sides.sell.slice(0, levelsDrawn);
  const all = [...buys, ...sells].map((it) => Number(it.price)), least = Math.min(...all), most = Math.max(...all);
  const sum = (of) => of.reduce((total, it) => total + Number(it.quantity), 0), top = Math.max(sum(buys), sum(sells), 1);
  const x = (price) => most > least ? 400 * (price - least) / (most - least) : 200;
  const area = (of, name) => {
    let total = 0, path = "";
    for (const it of of) {
      path += path ? `H${x(it.price)}` : `M${x(it.price)} 120`;
      total += Number(it.quantity);
      path += `V${118 - 110 * total / top}`;
    }
    return svg("path", { class: name, d: path ? `${path}H${name === "buys" ? 0 : 400}V120Z` : "" });
  };
  at("depth").replaceChildren(area(buys, "buys"), area(sells, "sells"));
}

function none(columns, text) {
  const cell = document.createElement("td"), made = document.createElement("tr");
  cell.colSpan = columns;
  cell.className = "none";
  cell.textContent = text;
  made.append(cell);
  return made;
}

// Sessions of one account number their orders each for itself; a quote is two orders of one number.
function keyOf(it) { return `${it.session}/${it.client_seq}/${it.side}`; }
function drop(it) {
  orders.delete(keyOf(it));
  gone?.add(keyOf(it));
}
function rowOfOrder(it) {
  const of = keyOf(it);
  if (!orderRows.has(of)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Cancel";
    button.setAttribute("aria-label", `Cancel order ${it.client_seq}`);
    button.onclick = () => send("cancel_order", { client_seq: String(++number), target: it.order === "0" ? { client_seq: it.client_seq } : { id: it.order } });
    orderRows.set(of, row([it.client_seq, it.instrument, it.side, "", "", button], [, , `word ${it.side === "buy" ? "bid" : "ask"}`]));
  }
  const made = orderRows.get(of);
  made.cells[3].textContent = grouped(it.price);
  made.cells[4].textContent = grouped(it.open);
  return made;
}
function showOwn() {
  changed = false;
  for (const of of orderRows.keys()) if (!orders.has(of)) orderRows.delete(of);
  // A row stays the same element while its order does, so that a button is not replaced under a finger.
  at("own").tBodies[0].replaceChildren(...[...orders.values()].slice(-ordersShown).reverse().map(rowOfOrder));
  if (orders.size === 0) at("own").tBodies[0].append(none(6, "No order of yours rests."));
  at("fills").tBodies[0].replaceChildren(...fills.map((it) =>
    row([it.trade, it.instrument, it.side, grouped(it.price), grouped(it.quantity)], [, , `word ${it.side === "buy" ? "bid" : "ask"}`])));
  if (fills.length === 0) at("fills").tBodies[0].append(none(5, "You have not traded yet."));
}

const heard = {
  login_accepted(it) {
    if (life !== it.session) { orders.clear(); fills.length = 0; showOwn(); }
    life = it.session;
    steady = setTimeout(tradeWait.reset, 10000);
    if (newest) {
      newest = false;
      gone = new Set();
      next = Number(it.sequence);
      send("query", { subject: "orders", from: "0" });
    }
    link("trading", true, `${credentials.username}, life ${life}`);
    say("Logged in.");
    send("query", { subject: "sessions", from: "0" });  // Numbers go on behind the last that was used.
    askBook();
    ask = setInterval(askBook, 500);
  },
  login_rejected(it) {
    link("trading", false, "not logged in");
    say(`Login refused: ${it.reason.replaceAll("_", " ")}.`);
    // Of another life, or not kept any more from there on: from its beginning, and then from here on.
    if (it.reason === "session_not_available" && !newest) {
      newest = life === "";
      life = ""; next = 1; number = 0;
      return;
    }
    credentials = null;
  },
  orders_page(it) {
    for (const each of it.rows) if (!gone?.has(keyOf(each))) orders.set(keyOf(each), each);
    if (it.last) gone = null;
    else send("query", { subject: "orders", from: it.next });
    showOwn();
  },
  sessions_page(it) {
    for (const each of it.rows) number = Math.max(number, Number(each.last_client_seq ?? 0));
    allow(true);
  },
  book_page(it) {
    if (Number(it.instrument) !== instrument()) return;
    sides[it.side] = it.levels;
    at("phase").textContent = it.phase.replaceAll("_", " ");
    showBook();
  },
  book_refused(it) { if (it.reason !== "message_rate") { sides.buy = []; sides.sell = []; at("phase").textContent = it.reason.replaceAll("_", " "); showBook(); } },
  order_entered(it) { orders.set(keyOf(it), it); say(`Order ${it.client_seq} entered.`); },
  order_amended(it) { Object.assign(orders.get(keyOf(it)) ?? {}, it); },
  order_executed(it) {
    const order = orders.get(keyOf(it));
    if (order) order.open = it.open;
    if (it.open === 0) drop(it);
    fills.unshift(it);
    fills.length = Math.min(fills.length, fillsShown);
    say(`Order ${it.client_seq} traded ${it.quantity} at ${it.price}.`);
  },
  order_cancelled(it) { drop(it); say(`Order ${it.client_seq} cancelled: ${it.reason.replaceAll("_", " ")}.`); },
  order_rejected(it) { say(`Refused: ${it.reason.replaceAll("_", " ")}.`); },
};

function connect() {
  if (!credentials) return;
  link("trading", false, "connecting");
  socket = new WebSocket(tradeAt, "exchange.json.v1");
  socket.onopen = () => {
    send("login", { ...credentials, session: life, sequence: newest ? "0" : String(next) });
    beat = setInterval(() => send("heartbeat"), 1000);
  };
  socket.onmessage = (event) => {
    const it = JSON.parse(event.data);
    if (it.sequence && it.message !== "login_accepted") {
      if (Number(it.sequence) < next) return;  // Had it on a connection before.
      next = Number(it.sequence) + 1;
      if (!changed) { changed = true; requestAnimationFrame(showOwn); }
    }
    heard[it.message]?.(it);
  };
  socket.onclose = (event) => {
    clearInterval(beat);
    clearInterval(ask);
    clearTimeout(steady);
    allow(false);
    if (!marketAt) {
      clearBook();
      showBook();
      at("phase").textContent = "not connected";
    }
    if (!credentials) return;
    if (event.reason.startsWith("logged in again")) {  // To take it back would cut the other one, which does likewise.
      credentials = null;
      link("trading", false, "not logged in");
      return say(`Logged out: ${event.reason}.`);
    }
    link("trading", false, "connection lost, trying again");
    setTimeout(connect, tradeWait.take());
  };
}

at("login").onsubmit = (event) => {
  event.preventDefault();
  if (!tradeAt) return say("This page has no order entry.");
  if (socket && socket.readyState < WebSocket.CLOSING) return say("Already logged in.");
  const waited = credentials !== null;
  const fresh = { username: at("user").value, password: at("password").value };
  if (credentials?.username !== fresh.username) { life = ""; next = 1; number = 0; orders.clear(); fills.length = 0; showOwn(); }
  credentials = fresh;
  at("password").value = "";
  if (!waited) connect();
};
onButtons("order", ({ side }) => {
  if (!mayTrade) return;
  send("enter_order", {
    client_seq: String(++number), instrument: instrument(), side,
    price: Number(at("price").value), quantity: Number(at("quantity").value), type: "limit", tif: "day",
    instruction: "none", self_trade: "account_default",
  });
});
// --- The operator -------------------------------------------------------------------------------------
let desk = null, unanswered = null;  // The connection, and the command that is under way.

function sayToOperator(words) { at("operator-said").textContent = words; }
function command(fields) {
  unanswered = fields.message.replaceAll("_", " ");
  sayToOperator(`${unanswered} \u2026`);
  desk?.send(JSON.stringify(fields));
}
function mayCommand(yes, words) {
  link("operator", yes, words);
  at("operator-login").hidden = yes;
  at("operator-orders").hidden = !yes;
}
const answered = {
  login_accepted() { mayCommand(true, at("operator-user").value); sayToOperator("Logged in."); },
  login_rejected(it) { sayToOperator(`Login refused: ${it.reason}.`); },
  answer(it) {
    unanswered = null;
    const what = it.command ? `${it.command.replaceAll("_", " ")} ${it.subject}: ` : "";
    sayToOperator(`${what}${it.outcome}${it.reason ? `, ${it.reason.replaceAll("_", " ")}` : ""}.`);
  },
};
at("operator-login").onsubmit = (event) => {
  event.preventDefault();
  if (desk && desk.readyState < WebSocket.CLOSING) return;
  const login = { message: "login", username: at("operator-user").value, password: at("operator-password").value };
  at("operator-password").value = "";
  link("operator", false, "connecting");
  const now = desk = new WebSocket(`ws://${location.host}/operator`);
  now.onopen = () => { now.send(JSON.stringify(login)); now.onopen = null; };  // The password is kept by nothing here.
  let told = false;
  now.onmessage = (message) => { const it = JSON.parse(message.data); told = true; answered[it.message]?.(it); };
  now.onclose = () => {
    if (now !== desk) return;
    if (!told) sayToOperator("The page's server did not let an operator in: it is away, or as many are here as may be.");
    else if (unanswered) sayToOperator(`${unanswered}: no answer; it may have been carried out or not. Logged out.`);
    else if (!at("operator-orders").hidden) sayToOperator("Logged out.");
    unanswered = null;
    mayCommand(false, "not logged in");
  };
};
onButtons("operator-market", ({ message, phase }) => {
  const where = Number(at("operator-instrument").value);
  if (phase) command({ message: "set_phase", instrument: where, phase });
  else command({ message, instrument: where });
});
onButtons("operator-account", ({ state }) => command({ message: "set_account_state", account: Number(at("operator-account-number").value), state }));
at("operator-leave").onclick = () => desk?.close();

// --- Everything else ----------------------------------------------------------------------------------
at("instrument").onchange = () => {
  centred = false;
  clearBook();
  showBook();
  if (marketAt) { follow(); showMarketsSoon(); }
  askBook();
};
at("scheme").onclick = () => {
  const dark = document.documentElement.dataset.scheme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.scheme = dark === "dark" ? "light" : "dark";
};
showOwn();
showCharts();
watch();
