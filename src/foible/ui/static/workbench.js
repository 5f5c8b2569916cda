// What the pages do by themselves: a form that says what it stands for, progress, a slider, keys. No libraries.
"use strict";

const form = (url, values, keepalive = false) => fetch(url, {
  method: "POST", keepalive, body: new URLSearchParams(values), headers: { Accept: "application/json" },
}).then(async answer => {
  const said = await answer.json();
  if (!answer.ok) throw new Error([said.message, said.hint].filter(Boolean).join(". "));
  return said;
});

const tab = Math.random().toString(36).slice(2, 10); // what this tab looks at, another does not interrupt

// Files of the visitor's own: sent with their progress, offered in every list that takes them, removed again.
document.querySelectorAll(".upload").forEach(drop => {
  const of = drop.dataset.of, file = drop.querySelector("input"), bar = drop.querySelector("progress");
  const status = drop.querySelector(".status"), listed = drop.querySelector("ul"), page = drop.closest("form");
  const lists = () => [...page.querySelectorAll(of === "images" ? "select.suites" : "optgroup.yours")];
  const say = text => { status.textContent = text; };
  const send = chosen => new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/uploads?of=${of}&name=${encodeURIComponent(chosen.name)}`);
    request.setRequestHeader("Accept", "application/json");
    request.responseType = "json";
    request.upload.addEventListener("progress", event => { bar.value = event.total ? event.loaded / event.total : 0; });
    request.addEventListener("error", () => fail(new Error("the workbench does not answer")));
    request.addEventListener("load", () => {
      const said = request.response || {};
      if (request.status < 300) done(said); else fail(new Error([said.message, said.hint].filter(Boolean).join(". ")));
    });
    request.send(chosen);
  });
  const take = async chosen => {
    say(`Sending ${chosen.name}…`);
    bar.value = 0;
    bar.hidden = false;
    try {
      const said = await send(chosen);
      lists().forEach((list, k) => {
        const option = new Option(said.name, said.key);
        option.toggleAttribute("data-own", Boolean(said.own));
        list.prepend(option);
        if (k === 0) option.selected = true;
      });
      const row = document.createElement("li"), button = document.createElement("button");
      row.dataset.upload = said.key;
      Object.assign(button, { type: "button", textContent: "Remove" }).toggleAttribute("data-remove", true);
      row.append(Object.assign(document.createElement("span"), { textContent: said.name }), " ", button);
      listed.append(row);
      say(`${said.name} is here.`);
      page.dispatchEvent(new CustomEvent("taken", { detail: { ...said, of } }));
    } catch (error) { say(`Not taken: ${error.message}`); }
    bar.hidden = true;
    file.value = "";
  };
  listed.addEventListener("click", async event => {
    const row = event.target.hasAttribute("data-remove") && event.target.closest("li");
    if (!row) return;
    await form(`/uploads/${row.dataset.upload.replace("upload:", "")}/remove`, {}).catch(() => null);
    page.querySelectorAll(`option[value="${row.dataset.upload}"]`).forEach(option => option.remove());
    row.remove();
    say("Removed.");
    page.querySelector("#recognised")?.replaceChildren();
    page.dispatchEvent(new Event("input"));
  });
  file.addEventListener("change", () => file.files.length && take(file.files[0]));
  ["dragover", "dragleave", "drop"].forEach(kind => drop.addEventListener(kind, event => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
    if (kind === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  }));
});

// Set up: every change is sent, the panel says what it means; models are tried when one of them changes.
const setup = document.getElementById("setup");
const showDomain = page => { // only what is for the chosen kind of images is in sight
  const domain = new FormData(page).get("domain");
  page.querySelectorAll("[data-domain]").forEach(part => { part.hidden = part.dataset.domain !== domain; });
  return domain;
};
const follow = (page, changed) => { // a model that comes with foible knows its images, and the other way round
  const model = page.querySelector("[name=classifier]"), domain = new FormData(page).get("domain");
  const made = model?.selectedOptions[0]?.dataset.for;
  if (!made || made === domain) return;
  if (changed === "domain") {
    const other = [...model.options].find(option => option.dataset.for === domain && !option.disabled);
    if (other) other.selected = true;
  } else page.querySelector(`[name=domain][value="${CSS.escape(made)}"]`).checked = true;
};
if (setup) {
  const panel = document.getElementById("panel"), probe = document.getElementById("probe"), own = document.getElementById("own");
  const recognised = document.getElementById("recognised"), values = () => new FormData(setup);
  const tryOn = ["question", "domain", "generator", "classifier", "rival", "address", "search", ...[...own.querySelectorAll("[name]")].map(field => field.name)];
  const models = () => JSON.stringify(tryOn.map(name => values().get(name)));
  let timer, tried = "", asked = 0, waiting = false, newest = "";

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
      if (models() === tried || waiting) return;
      if (said.ready) tryModels();
      else if (tried) { tried = ""; probe.innerHTML = '<p class="about">It is tried again as soon as the set-up makes sense.</p>'; }
    } catch (error) { panel.insertAdjacentHTML("afterbegin", '<p class="problem">The workbench does not answer. Is it still running?</p>'); }
  };
  const tryModels = async () => {
    const mine = tried = models();
    probe.innerHTML = '<p class="about busy">Trying the model on real images…</p>';
    const said = await form(`/setup/probe?tab=${tab}`, values()).catch(() => null);
    if (mine !== tried || waiting) return;
    probe.innerHTML = said ? said.html : '<p class="problem">The workbench does not answer. Is it still running?</p>';
    if (said) refresh();
  };
  probe.addEventListener("click", event => { // what only the visitor knows, said with one click
    const said = event.target.dataset.fill;
    if (!said) return;
    own.open = true;
    Object.entries(JSON.parse(said)).forEach(([name, text]) => { setup.elements[name].value = text; });
    setup.dispatchEvent(new Event("input"));
  });
  const fit = () => { // what cannot be chosen is out of reach
    showDomain(setup);
    const shown = [...setup.querySelectorAll("input[name=generator]")].filter(i => !i.closest(".choice").hidden && !i.disabled);
    if (!shown.some(i => i.checked) && shown.length) shown[0].checked = true;
    own.hidden = !["classifier", "rival"].some(name => setup.elements[name]?.selectedOptions[0]?.hasAttribute("data-own"));
    setup.querySelectorAll("[data-if]").forEach(part => {
      const [name, wanted] = part.dataset.if.split("=");
      part.hidden = values().get(name) !== wanted;
    });
    setup.querySelectorAll("input, select, textarea").forEach(input => { // what is out of sight is not sent
      if (input.closest("[data-if], #own")) input.disabled = Boolean(input.closest("[hidden]"));
    });
  };
  setup.addEventListener("input", event => { // what is typed in full is tried once
    if (event.target.name === "classifier" || event.target.name === "domain") { recognised.textContent = ""; follow(setup, event.target.name); }
    fit();
    clearTimeout(timer);
    timer = setTimeout(refresh, event.target.hasAttribute?.("data-typed") ? 700 : 200);
  });
  setup.addEventListener("taken", async event => { // a new model: what kind of images is it for?
    fit();
    waiting = true;
    tried = "";
    recognised.textContent = "Trying it on every kind of images…";
    recognised.classList.add("busy");
    probe.innerHTML = "";
    const mine = newest = event.detail.key;
    const said = await form(`/uploads/recognise?tab=${tab}&model=${encodeURIComponent(mine)}&domain=${encodeURIComponent(values().get("domain"))}`, {}).catch(error => ({ words: error.message }));
    if (mine !== newest) return; // another file came in the meantime
    waiting = false;
    recognised.classList.remove("busy");
    recognised.textContent = said.words;
    if (said.domain) setup.querySelector(`[name=domain][value="${CSS.escape(said.domain)}"]`).checked = true;
    fit();
    refresh();
  });
  fit();
  refresh();
}

// A question without a search: the same lists, one button.
const ask = document.getElementById("ask");
if (ask) {
  const obstacles = JSON.parse(ask.dataset.obstacles), problem = document.getElementById("obstacle");
  const fit = () => {
    const why = obstacles[showDomain(ask)];
    problem.hidden = !why;
    problem.textContent = why ? `Not here: ${why}.` : "";
    ask.querySelector("button.primary").disabled = Boolean(why) || !ask.elements.suite.options.length;
  };
  ask.addEventListener("input", event => { follow(ask, event.target.name); fit(); });
  ask.addEventListener("taken", fit);
  fit();
}

// Sure? What cannot be undone asks once.
document.addEventListener("submit", event => {
  const question = event.target.dataset.sure;
  if (question && !confirm(question)) event.preventDefault();
});

// Watch: once a second, parts that have changed take the place of the old ones. The run knows nothing of it.
const live = document.getElementById("live");
if (live) {
  const going = () => live.querySelector("[data-going]")?.dataset.going === "yes";
  const title = document.title, drawn = document.getElementById("parts");
  const told = `foible-told:${location.pathname}`; // whoever asked to be told is, also after a reload
  let was = going();
  const draw = async () => { // what other rooms have to show, when the page itself is there
    if (!drawn || going()) return;
    const answer = await fetch(drawn.dataset.source).catch(() => null);
    if (answer?.ok) drawn.innerHTML = await answer.text();
  };
  const ended = () => {
    const state = live.querySelector(".state")?.textContent || "done";
    document.title = `(${state}) ${title}`;
    if (sessionStorage.getItem(told) === "yes" && "Notification" in window && Notification.permission === "granted") new Notification(`foible: ${state}`, { body: title });
    draw();
  };
  live.addEventListener("click", async event => {
    if (event.target.id !== "tell-me") return;
    const granted = "Notification" in window && (await Notification.requestPermission().catch(() => "denied")) === "granted";
    sessionStorage.setItem(told, granted ? "yes" : "no");
    tellMe();
  });
  const tellMe = () => {
    const button = document.getElementById("tell-me"), said = sessionStorage.getItem(told);
    if (button && said) Object.assign(button, { textContent: said === "yes" ? "You will be told" : "This browser will not tell you; the tab's title will", disabled: true });
  };
  draw();
  tellMe();
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
      tellMe();
      if (was && !going()) ended();
      if (!was && going()) document.title = title;
      was = going();
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

// The list of runs: what is under way moves on; what somebody has opened stays as it is.
const listed = document.querySelector("#runs[data-live]");
if (listed) {
  const again = async () => {
    const answer = await fetch(listed.dataset.live, { cache: "no-store" }).catch(() => null);
    if (answer?.ok) {
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      listed.querySelectorAll("[data-run]").forEach(row => {
        const part = fresh.querySelector(`[data-run="${CSS.escape(row.dataset.run)}"]`);
        if (part && !row.querySelector("[open]") && part.outerHTML !== row.outerHTML) row.replaceWith(part);
      });
    }
    setTimeout(again, 1500);
  };
  setTimeout(again, 1500);
}

// Pictures: as pixels, smooth, or at their own size; photographs are smooth at first.
const look = chosen => {
  const shown = chosen || (document.querySelector(".photo") ? "smooth" : "pixels");
  document.body.dataset.look = shown;
  document.querySelectorAll("[data-look]").forEach(button => button.setAttribute?.("aria-pressed", button.dataset.look === shown));
};
document.addEventListener("click", event => {
  const chosen = event.target.closest("button[data-look]")?.dataset.look;
  if (!chosen) return;
  localStorage.setItem("foible-look", chosen);
  look(chosen);
});
look(document.querySelector(".looks") && localStorage.getItem("foible-look"));

// What somebody sees in one failure, said on the spot.
const spot = (part, finding, address) => {
  const name = part.querySelector("[name=person]"), said = part.querySelector(".said");
  name.value = localStorage.getItem("foible-person") || "";
  part.addEventListener("click", async event => {
    const answer = event.target.dataset.say;
    if (answer === undefined) return;
    const person = name.value.trim();
    if (!person) { said.textContent = "Say who you are first, so that answers can be compared."; name.focus(); return; }
    localStorage.setItem("foible-person", person);
    try {
      await form(address, { person, finding: finding(), answer });
      said.textContent = `Noted: ${event.target.textContent}.`;
    } catch (error) { said.textContent = error.message; }
  });
};
const onePage = document.getElementById("spot");
if (onePage) spot(onePage, () => onePage.dataset.finding, onePage.dataset.answer);

// On a narrow screen the failures come first; how to narrow them down is one touch away.
const refine = document.querySelector(".refine");
if (refine && matchMedia("(max-width: 900px)").matches) refine.open = false;

// The gallery: enlarge one, select several.
const gallery = document.getElementById("gallery");
if (gallery) {
  const large = document.getElementById("large"), cards = [...gallery.querySelectorAll(".card")];
  let shown = 0;
  const show = k => {
    shown = (k + cards.length) % cards.length;
    const card = cards[shown], title = card.querySelector("h3 a");
    large.querySelector("h2").replaceChildren(...title.cloneNode(true).childNodes);
    large.querySelector(".pictures").replaceChildren(card.querySelector(".triple").cloneNode(true));
    large.querySelector(".large-mark").replaceChildren(...card.querySelector(".mark").cloneNode(true).querySelectorAll(".badge"), card.querySelector("dl").cloneNode(true));
    large.querySelector("[data-page]").href = title.href;
    large.querySelector("[data-download]").href = `${location.pathname}/${card.dataset.finding}/failure.png`;
    large.querySelector(".said").textContent = "";
    if (!large.open) large.showModal();
  };
  gallery.addEventListener("click", event => {
    const opened = event.target.closest("[data-enlarge]");
    if (!opened || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(cards.indexOf(opened.closest(".card")));
  });
  large.addEventListener("click", event => {
    if (event.target.dataset.step) show(shown + Number(event.target.dataset.step));
    if (event.target === large) large.close();
  });
  large.addEventListener("keydown", event => {
    if (event.target.closest("input, textarea")) return;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) show(shown + step);
  });
  spot(large.querySelector("details"), () => cards[shown].dataset.finding, gallery.dataset.answer);

  const bar = document.getElementById("selected"), ticks = () => [...gallery.querySelectorAll("[name=key]")];
  const place = `foible-selected:${location.pathname}`;
  const kept = () => new Set(JSON.parse(sessionStorage.getItem(place) || "[]")); // a selection goes on over several pages
  const count = () => {
    const keys = kept();
    ticks().forEach(tick => { if (tick.checked) keys.add(tick.value); else keys.delete(tick.value); });
    sessionStorage.setItem(place, JSON.stringify([...keys]));
    bar.hidden = !keys.size;
    document.getElementById("how-many").textContent = `${keys.size} selected`;
    document.getElementById("export-selected").href = `${gallery.dataset.export}?keys=${[...keys].join(",")}`;
  };
  const mark = to => { ticks().forEach(tick => { tick.checked = to; }); count(); };
  ticks().forEach(tick => { tick.checked = kept().has(tick.value); });
  gallery.addEventListener("change", count);
  document.getElementById("select-all").addEventListener("click", () => mark(true));
  document.getElementById("clear").addEventListener("click", () => { sessionStorage.removeItem(place); mark(false); });
  count();
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

// People: the part that surveys have too, with the workbench as the place where answers are kept.
const people = document.getElementById("people");
if (people) addEventListener("load", () => {
  const spoken = { none: "-1", other: "-2" };
  document.getElementById("who").elements.person.value = localStorage.getItem("foible-person") || "";
  const last = new Map(); // of one image one after the other; of several at once, and to their end when the page is left
  asking({
    said: ["answer"],
    choices: JSON.parse(people.dataset.choices),
    begin: async person => {
      const answer = await fetch(`${people.dataset.questions}?person=${encodeURIComponent(person)}`, { cache: "no-store", headers: { Accept: "application/json" } });
      const said = await answer.json();
      if (!answer.ok) throw new Error(said.message);
      localStorage.setItem("foible-person", person);
      return said;
    },
    keep: (person, _, change) => {
      if (!change || change.skipped) return null;
      const values = { person, finding: change.item, ...(change.undone ? { undone: "yes" } : { answer: spoken[change.answer] ?? change.answer }) };
      const sent = (last.get(change.item) || Promise.resolve()).then(() => form(people.dataset.answer, values, true)).catch(error => {
        Object.assign(document.getElementById("problem"), { hidden: false, textContent: `Not kept: ${error.message}` });
      });
      last.set(change.item, sent);
      return sent;
    },
  });
});
const came = document.getElementById("answers");
came?.addEventListener("change", async event => {
  const status = document.getElementById("answers-status"), file = event.target.files[0];
  if (!file) return;
  const answer = await fetch(came.dataset.send, { method: "POST", body: file, headers: { Accept: "application/json" } });
  const said = await answer.json();
  status.textContent = answer.ok ? said.lines.join("; ") : `Not taken: ${[said.message, said.hint].filter(Boolean).join(". ")}`;
});
