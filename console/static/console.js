// What pages do in the browser besides htmx: tell the server the zone, draw charts from
// the figures that came with the page, copy documents, and open the palette and dialogs.
"use strict";

(() => {
  const root = document.documentElement;

  // The server writes times in the zone of this cookie. Only the first page of all comes
  // without it, and is asked for again.
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && zone !== root.dataset.zone && !document.cookie.includes("zone=" + encodeURIComponent(zone))) {
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = "zone=" + encodeURIComponent(zone) + "; path=" + root.dataset.prefix + "/; max-age=31536000; SameSite=Lax" + secure;
    if (document.cookie.includes("zone=")) location.reload();
  }

  // A token may have a light and a dark side; only a colour that is used has one.
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const color = name => {
    probe.style.color = "var(" + name + ")";
    return getComputedStyle(probe).color;
  };

  // A figure without neighbours has no line, so it is drawn as a point.
  function alone(plot, series) {
    const figures = plot.data[series];
    return [...figures.keys()].filter(i => figures[i] != null && figures[i - 1] == null && figures[i + 1] == null);
  }

  // Charts: an element with data-chart has [[times], [figures], …] in data-figures, and
  // the names of the series in data-series.
  const charts = new Map();
  function draw(element) {
    const figures = element.dataset.figures;
    const known = charts.get(element);
    if (known && known.figures === figures && known.width === element.clientWidth && known.height === element.clientHeight) return;
    const data = JSON.parse(figures);
    if (data[0].length === 1) { // a single moment has no length: it stands at the end of two minutes
      data[0].unshift(data[0][0] - 120);
      for (const column of data.slice(1)) column.unshift(null);
    }
    if (known && known.width === element.clientWidth && known.height === element.clientHeight) {
      known.figures = figures;
      known.plot.setData(data);
      return;
    }
    if (known) known.plot.destroy();
    const names = JSON.parse(element.dataset.series);
    const zone = document.documentElement.dataset.zone;
    const clock = (at, finest) => new Intl.DateTimeFormat("en-GB", {timeZone: zone, hour: "2-digit", minute: "2-digit", second: finest < 60 ? "2-digit" : undefined}).format(at * 1000);
    const axis = {stroke: color("--text-dim"), grid: {stroke: color("--line"), width: 1}, ticks: {show: false}, font: "11px system-ui"};
    const plot = new uPlot({
      width: element.clientWidth, height: element.clientHeight || 180, cursor: {y: false}, legend: {show: false},
      scales: {x: {time: true, range: (_, low, high) => [Math.min(low, high - 120), high]}, y: {range: (_, low, high) => [0, Math.max(1, high * 1.15)]}},
      tzDate: at => uPlot.tzDate(new Date(at * 1000), zone),
      axes: [{...axis, size: 28, space: 76, values: (_, moments, __, ___, step) => moments.map(at => clock(at, step))}, {...axis, size: 44}],
      series: [{}, ...names.map((name, i) => ({label: name, stroke: color("--chart-" + (i + 1)), width: 2, fill: i ? undefined : color("--chart-fill"), points: {show: false, filter: alone, size: 5, fill: color("--chart-" + (i + 1))}}))],
    }, data, element);
    charts.set(element, {plot, figures, width: element.clientWidth, height: element.clientHeight});
  }
  function drawAll() {
    document.querySelectorAll("[data-chart]").forEach(draw);
    for (const element of charts.keys()) {
      if (!element.isConnected) {
        charts.get(element).plot.destroy();
        charts.delete(element);
      }
    }
  }

  // Dragging over a picture of time chooses a span: the page is asked for with it.
  let drag = null;
  const fraction = (picture, event) => {
    const box = picture.getBoundingClientRect();
    const left = box.left + box.width * Number(picture.dataset.zoomLeft || 0);
    return Math.min(1, Math.max(0, (event.clientX - left) / (box.right - left)));
  };
  document.addEventListener("pointerdown", event => {
    const picture = event.target.closest("[data-zoom-from]");
    if (!picture || event.button !== 0) return;
    drag = {id: picture.id, at: fraction(picture, event), x: event.clientX};
  });
  const dragged = event => drag && Math.abs(event.clientX - drag.x) >= 8;
  document.addEventListener("pointermove", event => {
    const picture = dragged(event) && document.getElementById(drag.id);
    if (!picture) return;
    let band = picture.querySelector(".band"); // an update of the page takes it away
    if (!band) {
      band = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      band.classList.add("band");
      picture.append(band);
    }
    const {width, height} = picture.viewBox.baseVal;
    const left = width * Number(picture.dataset.zoomLeft || 0);
    const [from, to] = [drag.at, fraction(picture, event)].sort((a, b) => a - b).map(part => left + part * (width - left));
    for (const [name, value] of Object.entries({x: from, y: 0, width: to - from, height})) band.setAttribute(name, value);
  });
  document.addEventListener("pointerup", event => {
    const picture = dragged(event) && document.getElementById(drag.id);
    const begun = drag;
    drag = null;
    if (!picture) return;
    // A drag that ends on the link that it began on is no click on it. The click follows
    // at once, if there is one.
    const noClick = click => { click.preventDefault(); click.stopPropagation(); };
    document.addEventListener("click", noClick, {capture: true, once: true});
    setTimeout(() => document.removeEventListener("click", noClick, {capture: true}));
    const from = Number(picture.dataset.zoomFrom), to = Number(picture.dataset.zoomTo);
    const ends = [begun.at, fraction(picture, event)].sort((a, b) => a - b).map(part => new Date(from + part * (to - from)).toISOString());
    const url = new URL(location.href);
    url.searchParams.set("from", ends[0]);
    url.searchParams.set("to", ends[1]);
    location.assign(url);
  });

  // The palette.
  const palette = document.getElementById("palette");
  const open = () => {
    if (!palette || palette.open) return;
    palette.showModal();
    document.getElementById("palette-text").select();
  };
  document.getElementById("find")?.addEventListener("click", event => {
    if (!palette || event.ctrlKey || event.metaKey || event.shiftKey) return; // the search page opens in another tab
    event.preventDefault();
    open();
  });
  document.addEventListener("keydown", event => {
    const typing = event.target.closest?.("input, textarea, select");
    if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !typing)) {
      event.preventDefault();
      open();
    }
    if (!palette?.open || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
    event.preventDefault();
    const links = [...palette.querySelectorAll("a")];
    const next = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    (links[next] || document.getElementById("palette-text")).focus();
  });
  palette?.addEventListener("click", event => { if (event.target === palette) palette.close(); });

  document.addEventListener("click", event => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    navigator.clipboard?.writeText(document.getElementById(button.dataset.copy).textContent);
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 1200);
  });

  // A link to a form opens it over the page; what the server answers to the form takes
  // its place, or leads to another page. Without this script they are pages.
  const dialog = document.getElementById("dialog");
  const header = {"X-Fairlead-Dialog": "1"};
  // live.js shows that a request is running or was not answered; drafts.js keeps the input of
  // the open form until the submitted form succeeds.
  const tell = (what, detail) => document.dispatchEvent(new CustomEvent("fairlead:" + what, {detail}));
  function request(url, options) {
    tell("sent");
    return fetch(url, options).finally(() => tell("answered"));
  }
  async function show(answer, sent) {
    const to = answer.headers.get("X-Location");
    if (to !== null) {
      if (sent) tell("done");
      location.assign(to);
      return;
    }
    if (answer.redirected) { // signed out meanwhile
      location.assign(answer.url);
      return;
    }
    dialog.innerHTML = await answer.text();
    if (sent && dialog.querySelector("#done")) tell("done");
    window.htmx?.process(dialog);
    if (!dialog.open) dialog.showModal();
    (dialog.querySelector("[autofocus]") || dialog.querySelector("input:not([type=hidden]), select, textarea, button"))?.focus({preventScroll: true});
    tell("shown");
    dialog.scrollTop = 0; // what will be touched is read first
  }
  document.addEventListener("click", event => {
    const link = event.target.closest("a[data-dialog]");
    if (link && dialog && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      request(link.href, {headers: header}).then(answer => { tell("opened", link.href); return show(answer); }, () => location.assign(link.href));
    }
    if (event.target === dialog || event.target.closest?.("#dialog [data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });
  dialog?.addEventListener("submit", event => {
    const form = event.target;
    event.preventDefault();
    const button = event.submitter || form.querySelector("button");
    const sent = new FormData(form, event.submitter);
    button.disabled = true;
    request(form.action, {method: "POST", headers: header, body: form.enctype === "multipart/form-data" ? sent : new URLSearchParams(sent)})
      .then(answer => show(answer, true), () => { tell("unanswered"); unsent(form); })
      .finally(() => { button.disabled = false; });
  });
  // The input stays in the dialog, next to the message that the server does not answer.
  function unsent(form) {
    let problem = form.querySelector("#problem");
    if (!problem) {
      problem = document.createElement("p");
      problem.id = "problem";
      problem.className = "problem";
      problem.setAttribute("role", "alert");
      form.querySelector("h1")?.after(problem);
    }
    problem.textContent = dialog.dataset.unanswered;
  }
  // The form of a page is sent once, however often its button is pressed.
  let sending = false;
  document.addEventListener("submit", event => {
    if (!event.target.matches(".act-page form.act")) return;
    if (sending) event.preventDefault();
    sending = true;
    setTimeout(() => { sending = false; }, 5000); // who stopped it may mean to send it again
  });
  window.addEventListener("pageshow", () => { sending = false; });

  // A file that is too large is refused before it is sent.
  document.addEventListener("change", event => {
    const field = event.target;
    if (!field.matches("input[type=file][data-most]")) return;
    const large = [...field.files].some(file => file.size > Number(field.dataset.most));
    field.setCustomValidity(large ? field.dataset.large : "");
    field.reportValidity();
  });

  // A select of a filter sends its form at once.
  document.addEventListener("change", event => {
    if (event.target.matches("form.filters select, form.filters input[type=checkbox]")) event.target.form.requestSubmit();
  });

  // An empty list with more pages continues the search and shows its progress. It opens the first
  // page with rows, but not while the user types into a filter.
  let searching = false;
  async function searchOn() {
    let next = document.getElementById("search")?.dataset.search;
    if (!next || searching) return;
    searching = true;
    while (next && document.getElementById("search")) {
      const answer = await fetch(next).catch(() => null);
      if (!answer?.ok) break;
      const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("search");
      if (!found) {
        const field = document.activeElement;
        if (field?.matches("form.filters input, dialog input")) await new Promise(left => field.addEventListener("blur", left, {once: true}));
        location.replace(next);
        return;
      }
      next = found.dataset.search;
      document.getElementById("search")?.replaceWith(document.adoptNode(found));
    }
    searching = false;
  }
  searchOn();

  // The checkbox in the header of a list selects all rows.
  const pickAll = () => { for (const box of document.querySelectorAll("[data-pick-all]")) box.hidden = false; };
  document.addEventListener("change", event => {
    if (!event.target.matches("[data-pick-all]")) return;
    for (const box of event.target.closest("table").querySelectorAll("td.pick input")) box.checked = event.target.checked;
  });
  pickAll();

  // On a small screen the navigation is a line, of which only a part is seen.
  document.querySelector(".nav a[aria-current]")?.scrollIntoView({block: "nearest", inline: "center"});

  document.getElementById("live")?.addEventListener("htmx:sse:after:message", () => {
    drawAll();
    searchOn();
    pickAll();
  });
  window.addEventListener("resize", drawAll);
  // Charts are drawn with the colours of their time. The page stays: something may be typed
  // into it.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const known of charts.values()) known.width = 0;
    drawAll();
  });
  drawAll();
})();
