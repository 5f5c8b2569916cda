// One image at a time, one answer, the next image. The same part on the page of a survey and on that of the workbench:
// `begin(person)` gives { items, answers }, `keep(person, answers, change)` stores them, `over(answers)` comes after each step.
"use strict";
const asking = ({ said, choices, begin, keep, over = () => {} }) => {
  const part = id => document.getElementById(id);
  const many = choices.some(choice => !choice.key), shownAtOnce = 12;
  const words = { "-1": "none", "-2": "other" };
  const kept = new Set();  // what is being stored
  let person = "", items = [], answers = [], since = 0, now = {};  // now: what was said about the image on screen, so far

  const value = choice => words[choice.answer] ?? String(choice.answer);
  const done = () => new Set(answers.map(answer => answer.item));
  const current = () => { const gone = done(); return items.find(one => !gone.has(one.item)); };
  const next = () => said.find(name => !(name in now));
  const offered = () => {
    if (!many) return choices;
    const text = part("find").value.trim().toLowerCase();
    const fitting = choices.filter(choice => choice.answer >= 0 && text && choice.text.toLowerCase().includes(text));
    return [...fitting.slice(0, shownAtOnce), ...choices.filter(choice => choice.answer < 0)];
  };
  const button = (choice, name) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = choice.answer < 0 ? "none" : "";
    if (choice.key && !(many && choice.answer >= 0)) made.append(Object.assign(document.createElement("kbd"), { textContent: choice.key }));
    made.append(choice.text);
    if (said.length > 1) made.setAttribute("aria-pressed", now[name] === value(choice));
    made.addEventListener("click", () => say(choice, name));
    return made;
  };
  const group = (name, k) => {
    const [made, keys] = [document.createElement("div"), document.createElement("div")];
    keys.className = "keys";
    keys.append(...offered().map(choice => button(choice, name)));
    const rated = (current().classes || [])[k];
    if (rated === undefined) return keys;
    const asked = document.createElement("p");
    asked.id = `asked-${name}`;
    asked.append("How much does this look like ", Object.assign(document.createElement("b"), { textContent: rated }), "?");
    made.className = name === next() ? "rated next" : "rated";
    made.setAttribute("role", "group");
    made.setAttribute("aria-labelledby", asked.id);
    made.append(asked, keys);
    return made;
  };
  const offer = () => part("choices").replaceChildren(...said.map(group));

  const show = () => {
    const image = current(), skipped = answers.filter(answer => answer.skipped).length;
    document.querySelectorAll("[data-before]").forEach(one => { one.hidden = true; });
    part("question").hidden = !image;
    part("done").hidden = true;
    part("again").hidden = Boolean(image) || !skipped;
    if (!image) Promise.allSettled([...kept]).then(() => { part("done").hidden = Boolean(current()); }); // nothing is on its way any more
    part("again").textContent = `Look again at the ${skipped} you skipped`;
    part("bar").style.width = `${100 * answers.length / Math.max(1, items.length)}%`;
    part("undo").disabled = !answers.length;
    now = {};
    over(answers.filter(answer => !answer.skipped), !image);
    if (!image) return;
    part("count").textContent = `${answers.length + 1} of ${items.length}`;
    part("picture").src = part("natural").src = image.picture;
    const following = items[items.indexOf(image) + 1];
    if (following) new Image().src = following.picture;
    part("finder").hidden = !many;
    part("find").value = "";
    offer();
    if (many) part("find").focus();
    since = performance.now();
  };
  const store = change => {
    const going = Promise.resolve(keep(person, answers, change)).finally(() => kept.delete(going));
    kept.add(going);
  };
  const note = answer => {
    answers.push(answer);
    store(answer);
    show();
  };
  const say = (choice, name = next()) => {
    if (!person || !current()) return;
    now[name] = value(choice);
    if (next()) { part("undo").disabled = false; offer(); return; }
    const seconds = ((performance.now() - since) / 1000).toFixed(2);
    const given = new Date().toISOString().replace(/\.\d+Z/, "+00:00");
    note({ item: current().item, ...now, seconds, given });
  };
  const skip = () => { if (person && current()) note({ item: current().item, skipped: true }); };
  const undo = () => {
    if (!person) return;
    if (!Object.keys(now).length) {
      const last = answers.pop();
      if (last) store({ ...last, undone: true });
    }
    show();
  };
  const again = () => {
    answers = answers.filter(answer => !answer.skipped);
    store(null);
    show();
  };

  part("who").addEventListener("submit", async event => {
    event.preventDefault();
    const name = part("who").elements.person.value.trim().replace(/\s+/g, " ");
    if (!name) return;
    part("who").elements.person.blur();
    try {
      ({ items, answers } = await begin(name));
      person = name;
      store(null);
      show();
    } catch (error) {
      part("problem").hidden = false;
      part("problem").textContent = error.message;
    }
  });
  part("undo").addEventListener("click", undo);
  part("skip").addEventListener("click", skip);
  part("again").addEventListener("click", again);
  part("find").addEventListener("input", offer);
  part("find").addEventListener("keydown", event => {
    const first = offered()[0];
    if (event.key === "Enter" && first.answer >= 0) { event.preventDefault(); say(first); }
  });
  addEventListener("keydown", event => {
    if (!person || event.repeat || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    const act = { Backspace: undo, ArrowRight: skip }[event.key];
    if (act) { event.preventDefault(); act(); return; }
    const choice = current() && choices.find(c => c.key === event.key.toLowerCase() && !(many && c.answer >= 0));
    if (choice) { event.preventDefault(); say(choice); }
  });
};
