// The page comes alive: tabs, filter, table of traces, keys.
const list = document.getElementById('list');
const TABS = ['findings', 'rules', 'traces'].filter((id) => document.getElementById(id) !== null);

function showTab(id) {
  for (const tab of TABS) {
    const isShown = tab === id;
    document.getElementById(tab).hidden = !isShown;
    const button = document.getElementById(`tab-${tab}`);
    button.setAttribute('aria-selected', String(isShown));
    button.tabIndex = isShown ? 0 : -1;
  }
}
function makeTabs() {
  const counts = { findings: report.groups.reduce((sum, row) => sum + row[MEMBERS].length, 0), rules: report.rules.length, traces: report.traces.length };
  const bar = document.getElementById('tabs');
  bar.hidden = false;
  bar.append(...TABS.map((id) => el('button', {
    id: `tab-${id}`, role: 'tab', type: 'button', 'aria-controls': id, on: { click: () => showTab(id) },
  }, `${say(id)} `, el('span', { class: 'soft' }, number.format(counts[id])))));
  bar.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const now = TABS.indexOf(document.activeElement.id.slice(4));
    const next = TABS[(now + by + TABS.length) % TABS.length];
    showTab(next);
    document.getElementById(`tab-${next}`).focus();
  });
  for (const id of TABS) {
    document.getElementById(id).setAttribute('role', 'tabpanel');
    document.getElementById(id).querySelector('h2').classList.add('unseen');
  }
  showTab('findings');
}

const later = (act, wait = 150) => {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
};
const fields = {};
function makeFilter() {
  const sorted = (values) => [...new Set(values)].filter((text) => text !== '').sort();
  const rules = sorted(report.groups.flatMap((row) => row[MEMBERS].map((member) => texts[member[0]])));
  const contracts = sorted(report.groups.map((row) => texts[row[CONTRACT]]));
  const select = (name, anyKey, choices) => {
    if (choices.length < 2) return null;
    fields[name] = el('select', { 'aria-label': say(name), on: { change: () => { filter[name] = fields[name].value; choose(); } } },
      el('option', { value: '' }, say(anyKey)), ...choices.map(([value, told]) => el('option', { value }, told)));
    return fields[name];
  };
  const typed = (name, key, kind) => {
    const act = later(() => { filter[name] = fields[name].value.trim(); if (name === 'trace') filter.exactTrace = -1; choose(); });
    fields[name] = el('input', { type: 'search', class: kind, placeholder: say(key), 'aria-label': say(key), on: { input: act } });
    return fields[name];
  };
  const verdicts = VERDICTS.map((verdict, at) => [verdict, at]).filter(([, at]) => report.groups.some((row) => row[VERDICT] === at));
  const levels = LEVELS.filter((_, at) => report.groups.some((row) => row[MEMBERS].some((member) => member[1] === at)));
  const waived = report.groups.some((row) => row[WAIVED] !== 0) ? [['yes', say('is-waived')], ['no', say('not-waived')]] : [];
  const box = document.getElementById('filter');
  box.hidden = report.groups.length === 0;
  box.append(...[
    typed('search', 'search', 'search'),
    select('verdict', 'any-verdict', verdicts.map(([verdict]) => [verdict, say(verdict)])),
    select('level', 'any-level', levels.map((level) => [level, say(level)])),
    select('rule', 'any-rule', rules.map((rule) => [rule, rule])),
    select('contract', 'any-contract', contracts.map((contract) => [contract, contract])),
    select('waived', 'any-waiver', waived),
    report.traces.length > 1 ? typed('trace', 'in-trace', 'in-trace') : null,
    el('button', { type: 'button', class: 'clear', on: { click: () => { clearFilter(); fields.search.focus(); } } }, say('clear')),
    el('span', { id: 'found', class: 'soft', role: 'status' }),
  ].filter((made) => made !== null));
}
function clearFilter() {
  Object.assign(filter, { search: '', verdict: '', level: '', rule: '', contract: '', waived: '', trace: '', exactTrace: -1 });
  for (const field of Object.values(fields)) field.value = '';
  choose();
}
// Show the findings of one rule or one trace.
function only(name, value, exactTrace = -1) {
  clearFilter();
  filter[name] = value;
  filter.exactTrace = exactTrace;
  if (fields[name] !== undefined) fields[name].value = value;
  choose();
  showTab('findings');
  if (shown.length > 0) pick(shown[0], true);
}

function linkRules() {
  for (const row of document.querySelectorAll('tr[data-rule]')) {
    const code = row.querySelector('code');
    const rule = texts[report.rules[Number(row.dataset.rule)][0]];
    if (!report.groups.some((group) => group[MEMBERS].some((member) => texts[member[0]] === rule))) continue;
    const button = el('button', { type: 'button', class: 'link', on: { click: () => only('rule', rule) } });
    code.replaceWith(button);
    button.append(code);
  }
}

let traceFrom = 0;
let traceSearch = '';
function drawTraces() {
  const box = document.getElementById('trace-rows');
  const found = [];
  report.traces.forEach((row, index) => {
    if (traceSearch === '' || [row[0], ...row[1]].some((id) => texts[id].toLowerCase().includes(traceSearch))) found.push(index);
  });
  const to = Math.min(traceFrom + PAGE, found.length);
  const body = el('tbody', {}, ...found.slice(traceFrom, to).map(traceRow));
  const heads = ['trace', 'findings', 'events', 'calls', 'end'].map((key) => el('th', { scope: 'col' }, say(key)));
  const table = el('table', {}, el('thead', {}, el('tr', {}, ...heads)), body);
  box.querySelector('.found').replaceChildren(table, ...pager(traceFrom, to, found.length, (at) => { traceFrom = at; drawTraces(); }));
}
function traceRow(index) {
  const trace = unpackTrace(report.traces[index]);
  const found = groupsOf(index);
  const many = found.reduce((sum, at) => sum + report.groups[at][MEMBERS].length, 0);
  const worst = found.length === 0 ? 'satisfied' : VERDICTS[Math.min(...found.map((at) => report.groups[at][VERDICT]))];
  const open = () => { selected = -1; drawRows(); openTrace(index, -1); document.body.classList.add('detailed'); detail.scrollTop = 0; };
  return el('tr', {},
    el('th', { scope: 'row' }, el('button', { type: 'button', class: 'link', on: { click: open } }, el('bdi', {}, trace.id || '—')),
      el('div', { class: 'soft' }, el('bdi', {}, trace.sources.slice(0, 3).join(', ')))),
    el('td', {}, many === 0 ? el('span', { class: 'soft' }, '0')
      : el('button', { type: 'button', class: `badge ${worst}`, on: { click: () => only('trace', trace.id, index) } }, number.format(many))),
    el('td', { class: 'n' }, number.format(trace.events)), el('td', { class: 'n' }, number.format(trace.calls)), el('td', {}, trace.end));
}
function makeTraces() {
  const box = document.getElementById('trace-rows');
  if (box === null) return;
  const field = el('input', { type: 'search', placeholder: say('search-traces'), 'aria-label': say('search-traces') });
  field.addEventListener('input', later(() => { traceSearch = field.value.trim().toLowerCase(); traceFrom = 0; drawTraces(); }));
  for (const other of box.parentElement.querySelectorAll('p')) other.remove();
  box.replaceChildren(...(report.traces.length > 8 ? [el('div', { class: 'filter' }, field)] : []), el('div', { class: 'found' }));
  drawTraces();
}

function makeHelp() {
  const keys = [['j', 'k', 'key-jk'], ['/', 'key-search'], ['Enter', 'key-enter'], ['Esc', 'key-esc'], ['t', 'key-theme'], ['?', 'key-help']];
  const dialog = el('dialog', { class: 'card', id: 'keys', 'aria-label': say('keys') },
    el('h2', {}, say('keys')),
    el('dl', {}, ...keys.flatMap((row) => [el('dt', {}, ...row.slice(0, -1).map((key) => el('kbd', {}, key))), el('dd', {}, say(row.at(-1)))])),
    el('form', { method: 'dialog' }, el('button', { type: 'button', on: { click: () => dialog.close() } }, say('close'))));
  document.body.append(dialog);
  const button = document.getElementById('help');
  button.hidden = false;
  button.addEventListener('click', () => dialog.showModal());
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.getElementById('keys').open) return;
  const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === 'Escape') {
    escape(isTyping);
  } else if (isTyping) {
    return;
  } else if (event.key === 'Enter') {
    // Enter on another button is that button's own.
    const isFree = event.target === document.body || event.target.id === 'main' || event.target.matches('.finding.open .pick');
    if (!isFree) return;
    showSelected();
  } else if (KEYS[event.key] !== undefined) {
    KEYS[event.key]();
  } else {
    return;
  }
  event.preventDefault();
}
const KEYS = {
  j: () => { showTab('findings'); step(1); },
  k: () => { showTab('findings'); step(-1); },
  '/': () => { showTab('findings'); fields.search.focus(); fields.search.select(); },
  t: () => turn(isDark() ? 'light' : 'dark'),
  '?': () => document.getElementById('keys').showModal(),
};
function escape(isTyping) {
  if (isTyping && document.activeElement.value !== '') {
    clearFilter();
  } else if (isTyping) {
    document.activeElement.blur();
  } else {
    closeDetail();
  }
}

function onPrint() {
  const many = shown.slice(0, MOST_PRINTED);
  document.getElementById('rows').replaceChildren(...many.map((index) => {
    const made = card(index);
    made.querySelector('.gist')?.remove();
    made.querySelector('.proof')?.remove();
    made.append(proof(unpackGroup(report.groups[index])));
    return made;
  }));
}

document.documentElement.classList.add('live');
makeTabs();
makeFilter();
linkRules();
makeTraces();
makeHelp();
drawRows();
document.addEventListener('keydown', onKey);
addEventListener('beforeprint', onPrint);
addEventListener('afterprint', drawRows);
{
  const wanted = location.hash.slice(1);
  const linked = /^[0-9a-f]{6,32}$/.test(wanted)
    ? report.groups.findIndex((row) => row[MEMBERS].some((member) => texts[member[10]].startsWith(wanted))) : -1;
  if (linked >= 0) pick(linked, true);
  else if (report.groups.length > 0) pick(0, false);
  else if (report.traces.length > 0) openTrace(0, -1);
}
