// SPDX-License-Identifier: BSL-1.0
//
// A message from the room is a line with a name, and behind it what was said; the room itself has no name.
"use strict";

const find = (id) => document.getElementById(id);
const shown_max = 500;

function show(who, text) {
  const item = document.createElement("li");
  if (who === "") {
    item.className = "room";
  } else {
    item.appendChild(document.createElement("b")).textContent = who;
  }
  item.append(text);
  const log = find("log");
  log.append(item);
  while (log.children.length > shown_max) log.firstChild.remove();
  log.scrollTop = log.scrollHeight;
}

function ask_again(why) {
  find("state").textContent = why;
  find("say").hidden = true;
  find("join").hidden = false;
}

function enter(name) {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}/chat?name=${encodeURIComponent(name)}`);
  find("join").hidden = true;
  find("state").textContent = "Entering";
  socket.onopen = () => {
    find("state").textContent = `You are ${name}`;
    find("say").hidden = false;
    find("text").focus();
  };
  socket.onmessage = (event) => {
    const end = event.data.indexOf("\n");
    show(event.data.slice(0, end), event.data.slice(end + 1));
  };
  socket.onclose = (event) => {
    ask_again(event.reason === "" ? "The room is gone" : event.reason);
  };
  find("say").onsubmit = (event) => {
    event.preventDefault();
    socket.send(find("text").value);
    find("text").value = "";
  };
}

find("join").onsubmit = (event) => {
  event.preventDefault();
  enter(find("name").value);
};
document.body.dataset.ready = "yes";
