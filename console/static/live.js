// The live part of a page: says when the page is out of date, lets the viewer pause updates,
// and shows that a slow request is still running.
"use strict";

(() => {
  const root = document.documentElement;
  const live = document.getElementById("live");
  const stale = document.getElementById("stale");
  const pause = document.getElementById("pause");

  // The server sends something at least every five seconds. A server that hangs keeps the
  // connection open and sends nothing, which the browser does not report.
  const patience = 12000;
  let heard = Date.now();
  let paused = false;
  const clock = at => new Intl.DateTimeFormat("en-GB", {timeZone: root.dataset.zone, timeStyle: "medium"}).format(at);

  function fresh() {
    heard = Date.now();
    if (stale) stale.hidden = true;
  }
  function old() {
    if (!stale || !stale.hidden || paused) return;
    stale.querySelector("time").textContent = clock(heard);
    stale.hidden = false;
  }

  if (live) {
    live.addEventListener("signed-out", () => location.reload());
    live.addEventListener("stale", old);
    live.addEventListener("alive", fresh);
    live.addEventListener("htmx:sse:error", old);
    live.addEventListener("htmx:sse:before:message", event => {
      const kind = event.detail.message.event;
      if (paused && kind !== "signed-out") event.preventDefault();
    });
    live.addEventListener("htmx:sse:after:message", event => {
      const kind = event.detail.message.event;
      if (kind !== "stale") fresh();
      if (kind !== "alive") live.dataset.updates = Number(live.dataset.updates || 0) + 1;
    });
    // A page in the background has no connection. It opens one when it is shown again.
    document.addEventListener("visibilitychange", () => { heard = Date.now(); });
    setInterval(() => { if (!document.hidden && Date.now() - heard > patience) old(); }, 1000);
    if (pause) pause.hidden = false;
  }
  // A request that the dialog sent was not answered.
  document.addEventListener("fairlead:unanswered", old);

  // The server sends only changes, so a page that missed some is reloaded completely.
  pause?.addEventListener("click", () => {
    if (paused) {
      location.reload();
      return;
    }
    paused = true;
    if (stale) stale.hidden = true;
    pause.setAttribute("aria-pressed", "true");
    pause.querySelector(".label").textContent = pause.dataset.resume;
    pause.querySelector("time").textContent = clock(Date.now());
  });

  // A slow request shows a moving line at the top of the page, after a moment, so that fast
  // answers do not make the page flicker.
  const moment = 400;
  let running = 0;
  let timer = null;
  function begin() {
    running++;
    timer ??= setTimeout(() => root.classList.add("busy"), moment);
  }
  function end() {
    running = Math.max(0, running - 1);
    if (running > 0) return;
    clearTimeout(timer);
    timer = null;
    root.classList.remove("busy");
  }
  const stream = event => event.target === live; // it never ends
  document.addEventListener("htmx:before:request", event => { if (!stream(event)) begin(); });
  document.addEventListener("htmx:finally:request", event => { if (!stream(event)) end(); });
  document.addEventListener("fairlead:sent", begin);
  document.addEventListener("fairlead:answered", end);
  addEventListener("beforeunload", begin); // for a link or a form
  addEventListener("pageshow", () => { running = 0; end(); });
})();
