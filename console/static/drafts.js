// Drafts: the unsaved input of an action's form stays in this tab until the action is done or
// cancelled. It survives a reload, an accidentally closed dialog and an expired session.
// Files and passwords are not stored.
"use strict";

(() => {
  const prefix = "fairlead draft ";
  const sentKey = "fairlead sent";
  const dialog = document.getElementById("dialog");

  // A draft belongs to the address that opened its form: the same form opened for other jobs,
  // or to revert a change, starts with other values.
  function keyAt(address) {
    const url = new URL(address, location.href);
    url.searchParams.delete("next");
    return prefix + url.pathname + url.search;
  }
  let pageKey = keyAt(location.href);
  let dialogKey = "";
  const keyOf = form => dialog?.contains(form) ? dialogKey : pageKey;

  // Besides the input, a draft contains the original values, so that the server still detects
  // changes by others, and the token that makes repeated submissions take effect once.
  const isKept = field => field.name && !["file", "password", "submit", "button"].includes(field.type) &&
    (field.type !== "hidden" || field.name === "once" || field.name.startsWith("was."));
  const isChoice = field => field.type === "checkbox" || field.type === "radio";
  const valueOf = field => isChoice(field) ? field.checked : field.value;
  const fieldsOf = form => [...form.elements].filter(isKept);
  const valuesOf = form => fieldsOf(form).map(field => [field.name, isChoice(field) ? field.value : "", valueOf(field)]);

  // A browser may refuse to store anything, or more than a few megabytes. Forms work all the
  // same.
  function store(key, value) {
    try {
      sessionStorage.setItem(key, value);
    } catch {
      drop(key);
    }
  }
  function read(key) {
    try {
      return sessionStorage.getItem(key);
    } catch {
      return null;
    }
  }
  function drop(key) {
    try {
      sessionStorage.removeItem(key);
    } catch {}
  }

  const ofAction = form => form?.matches?.("form.act");
  function keep(event) {
    const form = event.target.form;
    if (ofAction(form)) store(keyOf(form), JSON.stringify(valuesOf(form)));
  }
  document.addEventListener("input", keep);
  document.addEventListener("change", keep);

  // The n-th field with a name takes the n-th value of that name.
  function fill(form, values) {
    let typed = false;
    const left = [...values];
    for (const field of fieldsOf(form)) {
      const at = left.findIndex(([name, choice]) => name === field.name && choice === (isChoice(field) ? field.value : ""));
      if (at < 0) continue;
      const [[, , value]] = left.splice(at, 1);
      if (value === valueOf(field)) continue;
      if (isChoice(field)) field.checked = value;
      else field.value = value;
      if (field.type === "hidden") continue;
      typed = true;
      field.dispatchEvent(new Event("input", {bubbles: true})); // so that dependent parts of the form update
      field.dispatchEvent(new Event("change", {bubbles: true}));
    }
    return typed;
  }

  // A rejected form already contains the input, and the changes by others.
  function restore(form) {
    if (!ofAction(form)) return;
    if ("sent" in form.dataset) {
      if (fieldsOf(form).some(field => field.type !== "hidden")) store(keyOf(form), JSON.stringify(valuesOf(form)));
      return;
    }
    window.htmx?.process(form); // before its fields change
    const shown = valuesOf(form);
    if (!fill(form, JSON.parse(read(keyOf(form)) || "[]"))) return;
    const notice = document.getElementById("restored").content.firstElementChild.cloneNode(true);
    notice.querySelector("button").addEventListener("click", () => {
      fill(form, shown);
      drop(keyOf(form));
      notice.remove();
    });
    form.querySelector("h1").after(notice);
  }

  document.addEventListener("fairlead:opened", event => { dialogKey = keyAt(event.detail); });
  document.addEventListener("fairlead:shown", () => restore(dialog.querySelector("form.act")));
  document.addEventListener("fairlead:done", () => drop(dialogKey));
  document.addEventListener("click", event => {
    const form = event.target.closest?.("[data-close]")?.closest("form");
    if (ofAction(form)) drop(keyOf(form));
  }, {capture: true});
  document.addEventListener("submit", event => {
    if (event.target.matches(".act-page form.act")) store(sentKey, keyOf(event.target));
    if (event.target.matches(".who form")) { // signs out
      for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix)) drop(key);
    }
  });

  // A form on its own page has taken effect if the browser was redirected anywhere but to the
  // sign-in page.
  window.addEventListener("load", () => {
    const form = document.querySelector(".act-page form.act");
    const sent = read(sentKey);
    drop(sentKey);
    const rejected = form && "sent" in form.dataset;
    if (sent && rejected) pageKey = sent; // the address of a form that was sent has no parameters
    if (sent && !document.querySelector("form.login") && !(form && pageKey === sent)) drop(sent);
    restore(form);
  });
})();
