// The list of findings: filter, search, pages of cards.
const PAGE = 50;
const MOST_PRINTED = 1000;
const filter = { search: '', verdict: '', level: '', rule: '', contract: '', waived: '', trace: '', exactTrace: -1 };
let shown = report.groups.map((_, index) => index);
let first = 0;
let selected = -1;

// Numbers of the texts that hold the searched words, each text looked at once.
function holding(search) {
  const wanted = search.toLowerCase();
  const found = new Uint8Array(texts.length);
  for (let id = 1; id < texts.length; id += 1) if (texts[id].toLowerCase().includes(wanted)) found[id] = 1;
  return found;
}
function holds(row, found) {
  const traceRow = report.traces[row[TRACE]];
  if (traceRow !== undefined && found[traceRow[0]]) return true;
  if (found[row[AGENT]] || found[row[CONTRACT]] || found[row[WAIVED]] || spotHolds(row[SPOT], found)) return true;
  if (row[MISSING].some((id) => found[id])) return true;
  if (row[WITNESSES].some(([, note, quote, place]) => found[note] || found[quote] || spotHolds(place, found))) return true;
  return row[MEMBERS].some((member) => memberHolds(member, found));
}
const spotHolds = (place, found) => place.length > 0 && found[place[0]] === 1;
function memberHolds(member, found) {
  const [rule, , message, sentence, key, values, reason, place, cls, , fingerprint, touched] = member;
  return found[rule] || found[message] || found[sentence] || found[key] || found[reason] || found[place] || found[cls]
    || found[fingerprint] || values.some((id) => found[id]) || touched.some((id) => found[id]);
}

function choose() {
  const found = filter.search === '' ? null : holding(filter.search);
  const inTrace = filter.trace.toLowerCase();
  const traces = inTrace === '' ? null : report.traces.map((row) => texts[row[0]].toLowerCase().includes(inTrace));
  const verdict = VERDICTS.indexOf(filter.verdict);
  const level = LEVELS.indexOf(filter.level);
  shown = [];
  report.groups.forEach((row, index) => {
    if (verdict >= 0 && row[VERDICT] !== verdict) return;
    if (level >= 0 && !row[MEMBERS].some((member) => member[1] === level)) return;
    if (filter.rule !== '' && !row[MEMBERS].some((member) => texts[member[0]] === filter.rule)) return;
    if (filter.contract !== '' && texts[row[CONTRACT]] !== filter.contract) return;
    if (filter.waived !== '' && (row[WAIVED] !== 0) !== (filter.waived === 'yes')) return;
    if (filter.exactTrace >= 0 && row[TRACE] !== filter.exactTrace) return;
    if (traces !== null && !traces[row[TRACE]]) return;
    if (found !== null && !holds(row, found)) return;
    shown.push(index);
  });
  first = 0;
  drawRows();
}

function drawRows() {
  const rows = document.getElementById('rows');
  const last = Math.min(first + PAGE, shown.length);
  const cards = shown.slice(first, last).map(card);
  const none = shown.length > 0 ? null
    : el('p', { class: 'none soft' }, say(report.groups.length === 0 ? 'no-findings' : 'nothing-fits'));
  rows.replaceChildren(...cards, ...(none === null ? [] : [none]), ...pager(first, last, shown.length, (to) => {
    first = to;
    drawRows();
    document.getElementById('list').scrollTo({ top: 0 });
    rows.scrollIntoView({ block: 'nearest' });
  }));
  document.getElementById('found').textContent = shown.length === report.groups.length ? ''
    : say('n-findings', { n: shown.reduce((sum, index) => sum + report.groups[index][MEMBERS].length, 0) });
}

function pager(from, to, of, go) {
  if (of <= PAGE) return [];
  const step = (key, target, able) => el('button', {
    type: 'button', disabled: !able, class: key, on: { click: () => go(target) },
  }, say(key));
  return [el('nav', { class: 'pager' },
    step('previous', from - PAGE, from > 0),
    el('span', { class: 'soft' }, say('shown', { from: from + 1, to, n: of })),
    step('next', from + PAGE, to < of))];
}

function card(index) {
  const group = unpackGroup(report.groups[index]);
  const isOpen = index === selected;
  const button = el('button', {
    class: 'pick', type: 'button', 'aria-expanded': isOpen, on: { click: () => pick(index, true) },
  }, ...group.members.map((member) => headline(member, group)), el('span', { class: 'where soft mono wrap' }, where(group)));
  return el('article', { class: `finding ${group.verdict}${isOpen ? ' open' : ''}${group.gates ? ' gates' : ''}`, 'data-group': index },
    button, isOpen ? proof(group) : gist(group));
}
function headline(member, group) {
  return el('span', { class: 'headline' },
    el('span', { class: 'marks' },
      el('span', { class: `badge ${group.verdict}` }, say(group.verdict)),
      el('code', { class: 'rule' }, member.rule),
      el('span', { class: 'soft' }, say(member.level)),
      group.waived === '' ? null : el('span', { class: 'badge' }, say('waived'))),
    el('span', { class: 'message wrap' }, el('bdi', {}, member.message)));
}
function where(group) {
  const parts = [];
  if (group.spot !== '') parts.push(group.spot);
  if (group.event > 0) parts.push(group.of > 0 ? say('event-of', { i: group.event, n: group.of }) : say('event-at', { i: group.event }));
  else parts.push(say(group.trace >= 0 ? 'whole-run' : 'all-traces'));
  if (group.turn >= 0) parts.push(say('turn', { n: group.turn }));
  if (group.agent !== '') parts.push(say('lane', { name: group.agent }));
  if (report.traces.length > 1 && group.trace >= 0) parts.push(texts[report.traces[group.trace][0]]);
  return parts.join(' · ');
}
// Of a folded card, the one line that says most.
function gist(group) {
  const own = group.witnesses.find((witness) => witness.seq === group.seq);
  const value = group.members.flatMap((member) => member.values)[0];
  if (group.missing.length > 0) return el('p', { class: 'gist mono' }, el('b', {}, `${say('missing')}: `), el('bdi', {}, group.missing[0]));
  if (value !== undefined) return el('p', { class: 'gist mono' }, el('bdi', {}, value));
  return own === undefined || own.quote === '' ? null : el('p', { class: 'gist mono' }, el('bdi', {}, own.quote));
}

function proof(group) {
  const rows = [];
  const add = (key, ...told) => { if (told.length > 0) rows.push(el('dt', {}, say(key)), ...told.map((one) => el('dd', {}, one))); };
  const mono = (text) => el('code', {}, el('bdi', {}, text));
  const unique = (of) => [...new Set(group.members.flatMap(of).filter((text) => text !== ''))];
  const own = group.witnesses.find((witness) => witness.seq === group.seq);
  if (own !== undefined) add('this-event', witnessLine(own, group));
  if (group.missing.length === 0) add('told', ...unique((member) => (member.values.length > 0 ? [] : [member.sentence])));
  add('for', ...unique((member) => (member.touched.length > 0 ? [] : [member.key])).map(mono));
  const values = unique((member) => member.values);
  if (values.length > 0) add('compared', ...values.map((value) => el('span', { class: 'compared' }, mono(value))));
  add('missing', ...group.missing.map((text) => el('span', { class: 'lack' }, mono(text))));
  for (const member of group.members) touched(member.touched, add, mono);
  const others = group.witnesses.filter((witness) => witness.seq !== group.seq);
  add('proof', ...others.map((witness) => witnessLine(witness, group)));
  if (group.verdict === 'inconclusive') add('reason', ...unique((member) => [member.reason]).map(mono));
  add('contract', ...[...new Set(group.members.map((member) => member.place || group.contract))].filter((text) => text !== '').map(mono));
  add('class', ...unique((member) => [member.cls]));
  if (group.waived !== '') add('waiver', group.waived);
  // How to accept a violation is no step to mend it.
  add(group.verdict === 'violated' ? 'waiver' : 'help', ...unique((member) => [member.help]));
  add('fingerprint', ...unique((member) => [member.fingerprint]).map((text) => el('span', { class: 'copied' }, mono(text), ' ', copier(text))));
  return el('dl', { class: 'proof' }, ...rows);
}
function touched(told, add, mono) {
  if (told.length === 0) return;
  const [what, rule, differs, outcome, fix] = told;
  add('touches', mono(what));
  if (rule !== '') add('nearest', mono(rule));
  if (differs !== '') add('differs', mono(differs));
  if (outcome !== '') add('became', word(outcome, outcome));
  if (fix !== '') add('to-allow', mono(fix));
}
function witnessLine(witness, group) {
  const quote = el('code', {}, el('bdi', {}, witness.quote || witness.type));
  const note = witness.note === '' ? null : el('span', { class: 'soft' }, `${witness.note} `);
  if (group.trace < 0) return el('span', {}, note, quote);
  return el('button', {
    class: 'to-event', type: 'button', title: witness.spot, on: { click: () => showEvent(group.trace, witness.seq) },
  }, note, quote);
}

// Take a finding: its card opens, and the timeline shows its events.
function pick(index, isAsked) {
  selected = index;
  const at = shown.indexOf(index);
  if (at >= 0 && (at < first || at >= first + PAGE)) first = at - (at % PAGE);
  drawRows();
  const row = report.groups[index];
  openTrace(row[TRACE], index);
  const open = document.querySelector('.finding.open');
  if (open === null || !isAsked) return;
  open.scrollIntoView({ block: 'nearest' });
  open.querySelector('.pick').focus({ preventScroll: true });
  const fingerprint = texts[row[MEMBERS][0][10]];
  try {
    if (/^[0-9a-f]+$/.test(fingerprint)) history.replaceState(null, '', `#${fingerprint}`);
  } catch {
    // A page in a frame without an address keeps none.
  }
}
function step(by) {
  const at = shown.indexOf(selected);
  const next = at < 0 ? first : at + by;
  if (next >= 0 && next < shown.length) pick(shown[next], true);
}
