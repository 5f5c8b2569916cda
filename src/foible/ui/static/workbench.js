// What the pages do by themselves: a form that says what it stands for, progress, a slider, keys. No libraries.
"use strict";

const form = (url, values) => fetch(url, {
  method: "POST", body: new URLSearchParams(values), headers: { Accept: "application/json" },
}).then(async answer => {
  const said = await answer.json();
  if (!answer.ok) throw new Error([said.message, said.hint].filter(Boolean).join(". "));
  return said;
});

// Set up: every change is sent, the panel says what it means; models are tried when one of them changes.
const setup = document.getElementById("setup");
if (setup) {
  const panel = document.getElementById("panel"), probe = document.getElementById("probe"), own = document.getElementById("own");
  const values = () => new FormData(setup);
  const tryOn = ["domain", "generator", "classifier", "address", ...[...own.querySelectorAll("[name]")].map(field => field.name)];
  const models = () => JSON.stringify(tryOn.map(name => values().get(name)));
  let timer, tried = "", asked = 0;

  const refresh = async () => {
    const mine = ++asked;
    try {
      const said = await form("/setup/preview", values());
      if (mine !== asked) return;
      const open = panel.querySelector("details")?.open;
      panel.innerHTML = said.html;
      const wrong = [...panel.querySelectorAll("[data-field]")].map(problem => problem.dataset.field);
      setup.querySelectorAll("[aria-describedby]").forEach(field => field.setAttribute("aria-invalid", wrong.includes(field.name)));
      if (open && panel.querySelector("details")) panel.querySelector("details").open = true;
      if (models() === tried) return;
      if (said.ready) tryModels();
      else if (tried) { tried = ""; probe.innerHTML = '<p class="about">It is tried again as soon as the set-up makes sense.</p>'; }
    } catch (error) { panel.insertAdjacentHTML("afterbegin", '<p class="problem">The workbench does not answer. Is it still running?</p>'); }
  };
  const tryModels = async () => {
    const mine = tried = models();
    probe.innerHTML = '<p class="about busy">Trying the classifier on real images…</p>';
    const said = await form("/setup/probe", values()).catch(() => null);
    if (mine !== tried) return;
    if (said) probe.innerHTML = said.html;
    refresh();
  };
  probe.addEventListener("click", event => { // what only the visitor knows, said with one click
    const said = event.target.dataset.fill;
    if (!said) return;
    own.closest("details")?.setAttribute("open", "");
    own.querySelectorAll("details").forEach(part => { part.open = true; });
    Object.entries(JSON.parse(said)).forEach(([name, text]) => { setup.elements[name].value = text; });
    setup.dispatchEvent(new Event("input"));
  });
  const fit = () => { // what cannot be chosen is out of reach
    const domain = values().get("domain");
    setup.querySelectorAll("[data-domain]").forEach(choice => { choice.hidden = choice.dataset.domain !== domain; });
    ["generator", "classifier"].forEach(name => {
      const shown = [...setup.querySelectorAll(`input[name=${name}]`)].filter(i => !i.closest(".choice").hidden && !i.disabled);
      if (!shown.some(i => i.checked) && shown.length) shown[0].checked = true;
    });
    own.hidden = !setup.querySelector("input[name=classifier]:checked")?.hasAttribute("data-own");
    setup.querySelectorAll("[data-if]").forEach(part => {
      const [name, wanted] = part.dataset.if.split("=");
      part.hidden = values().get(name) !== wanted;
    });
    setup.querySelectorAll("input, select, textarea").forEach(input => { // what is out of sight is not sent
      if (input.closest("[data-if], #own")) input.disabled = Boolean(input.closest("[hidden]"));
    });
  };
  setup.addEventListener("input", event => { // what is typed in full is tried once
    fit();
    clearTimeout(timer);
    timer = setTimeout(refresh, event.target.hasAttribute("data-typed") ? 700 : 200);
  });
  fit();
  refresh();

  const file = document.getElementById("file"), drop = document.getElementById("drop"), status = document.getElementById("upload-status");
  const send = async chosen => {
    status.textContent = `Sending ${chosen.name}…`;
    try {
      const answer = await fetch(`/uploads?name=${encodeURIComponent(chosen.name)}`, { method: "POST", body: chosen, headers: { Accept: "application/json" } });
      const said = await answer.json();
      if (!answer.ok) throw new Error([said.message, said.hint].filter(Boolean).join(". "));
      const label = document.createElement("label"), input = document.createElement("input"), body = document.createElement("span");
      label.className = "choice";
      Object.assign(input, { type: "radio", name: "classifier", value: said.key, checked: true });
      input.toggleAttribute("data-own", said.own);
      body.className = "body";
      body.append(Object.assign(document.createElement("b"), { textContent: said.name }), Object.assign(document.createElement("small"), { textContent: "your upload; only this browser can see it" }));
      label.append(input, body);
      document.getElementById("classifiers").lastElementChild.before(label);
      status.textContent = `${said.name} is here.`;
      fit();
      refresh();
    } catch (error) { status.textContent = `Not taken: ${error.message}`; }
    file.value = "";
  };
  file.addEventListener("change", () => file.files.length && send(file.files[0]));
  ["dragover", "dragleave", "drop"].forEach(kind => drop.addEventListener(kind, event => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  }));
}

// Watch: once a second, parts that have changed take the place of the old ones. The run knows nothing of it.
const live = document.getElementById("live");
if (live) {
  const going = () => live.querySelector("[data-going]")?.dataset.going === "yes";
  const tick = async () => {
    const begun = Date.now();
    try {
      const answer = await fetch(live.dataset.source, { cache: "no-store" });
      if (!answer.ok) throw new Error();
      const fresh = document.createElement("div");
      fresh.innerHTML = await answer.text();
      const parts = [...fresh.querySelectorAll("[data-part]")], shown = [...live.querySelectorAll("[data-part]")];
      if (parts.map(p => p.dataset.part).join() !== shown.map(p => p.dataset.part).join()) live.replaceChildren(...fresh.childNodes);
      else parts.forEach((part, k) => { if (part.outerHTML !== shown[k].outerHTML) swap(shown[k], part); });
      live.dataset.updated = String(Date.now());
    } catch { live.querySelector("#status").textContent = "The workbench does not answer; the run itself goes on. Trying again…"; }
    setTimeout(tick, going() ? Math.max(100, 800 - (Date.now() - begun)) : 4000); // somebody else may make it go on
  };
  const swap = (old, part) => {
    const scrolled = old.querySelector(".tall")?.scrollTop, link = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
    old.replaceWith(part);
    if (scrolled) part.querySelector(".tall").scrollTop = scrolled;
    if (link) part.querySelector(`a[href="${CSS.escape(link)}"]`)?.focus(); // whoever uses the keyboard stays where they are
  };
  setTimeout(tick, going() ? 400 : 4000);
}

// Filters answer at once.
document.getElementById("filters")?.addEventListener("change", event => event.currentTarget.requestSubmit());
document.getElementById("filters")?.addEventListener("formdata", event => {
  for (const [key, value] of [...event.formData]) if (value === "") event.formData.delete(key);
});

// One failure: the slider walks along a strip of pictures; arrow keys go to the next failure.
const way = document.getElementById("way");
if (way) {
  const canvas = document.getElementById("way-picture"), slider = document.getElementById("way-step"), text = document.getElementById("way-text");
  fetch(way.dataset.source, { headers: { Accept: "application/json" } }).then(async answer => {
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.message);
    const strip = new Image();
    strip.src = said.strip;
    await strip.decode();
    const wide = strip.width / said.steps.length;
    Object.assign(canvas, { width: wide, height: strip.height });
    canvas.style.aspectRatio = `${wide} / ${strip.height}`;
    const show = () => {
      const step = said.steps[slider.value];
      canvas.getContext("2d").drawImage(strip, slider.value * wide, 0, wide, strip.height, 0, 0, wide, strip.height);
      text.textContent = `${Math.round(100 * slider.value / (said.steps.length - 1))} % of the way: ${step.text}`;
      text.className = step.wrong ? "wrong" : "";
    };
    slider.max = said.steps.length - 1;
    slider.disabled = false;
    slider.addEventListener("input", show);
    show();
  }).catch(error => { text.textContent = `Cannot be drawn: ${error.message}`; });
  addEventListener("keydown", event => {
    if (event.target.closest("input, select") || event.altKey || event.ctrlKey || event.metaKey) return;
    const link = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (link) document.querySelector(`a[rel=${link}]`)?.click();
  });
}

// People: a picture, a key, the next picture.
const people = document.getElementById("people");
if (people) {
  const part = id => document.getElementById(id), who = part("who");
  let person = "", now = null, busy = false;
  who.elements.person.value = localStorage.getItem("foible-person") || "";

  const next = async () => {
    const answer = await fetch(`${people.dataset.question}?person=${encodeURIComponent(person)}`, { cache: "no-store" });
    now = await answer.json();
    part("board").innerHTML = now.board;
    part("question").hidden = now.done;
    part("done").hidden = !now.done;
    if (now.done) return;
    part("count").textContent = `${now.answered + 1} of ${now.total}.`;
    part("picture").src = now.picture || "";
    part("choices").replaceChildren(...now.choices.map(choice => {
      const button = document.createElement("button");
      button.append(Object.assign(document.createElement("kbd"), { textContent: choice.key }), choice.text);
      button.addEventListener("click", () => say(choice));
      return button;
    }));
  };
  const say = async choice => {
    if (busy || !now || now.done) return;
    busy = true;
    try {
      await form(people.dataset.answer, { person, finding: now.finding, answer: choice.answer });
      part("said").textContent = `Noted: ${choice.text}.`;
      await next();
    } catch (error) { part("said").textContent = error.message; }
    busy = false;
  };
  who.addEventListener("submit", event => {
    event.preventDefault();
    person = who.elements.person.value.trim();
    if (!person) return;
    localStorage.setItem("foible-person", person);
    who.hidden = true;
    next();
  });
  addEventListener("keydown", event => {
    if (!now || now.done || event.target.closest("input") || event.altKey || event.ctrlKey || event.metaKey) return;
    const choice = now.choices.find(c => c.key === event.key.toLowerCase());
    if (choice) { event.preventDefault(); say(choice); }
  });
}
