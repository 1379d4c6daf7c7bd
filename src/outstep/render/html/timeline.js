// One trace as a timeline: turns, lanes, calls, results, gaps; the events of the chosen finding marked.
const detail = document.getElementById('detail');
let openedTrace = -2;

function openTrace(trace, index) {
  detail.hidden = false;
  if (trace !== openedTrace) {
    openedTrace = trace;
    detail.replaceChildren(...(trace < 0 ? [el('p', { class: 'none soft' }, say('no-trace'))] : drawTrace(trace)));
  }
  mark(index);
}

function drawTrace(number) {
  const trace = unpackTrace(report.traces[number]);
  const told = stepsOf(number);
  const lines = [
    [...trace.sources, trace.format, trace.unpinned ? say('unpinned') : ''],
    trace.subject.map((text) => text.replace(/ ([0-9a-f]{12})[0-9a-f]{20,}$/, ' $1…')),
    [say('n-events', { n: trace.events }), say('n-calls', { n: trace.calls }), trace.end === '' ? '' : `${say('end')}: ${trace.end}`],
    [trace.skipped === '' ? '' : say('n-skipped', { kinds: trace.skipped }), ...trace.metrics],
  ];
  const head = el('header', { class: 'about' },
    el('button', { class: 'back', type: 'button', on: { click: closeDetail } }, `← ${say('back')}`),
    el('h2', { tabindex: -1 }, el('bdi', {}, trace.id)),
    ...lines.map((parts) => parts.filter((part) => part !== '')).filter((parts) => parts.length > 0)
      .map((parts) => el('p', { class: 'soft wrap' }, el('bdi', {}, parts.join(' · ')))),
    told.isWhole ? null : el('p', { class: 'partly' }, say('only-named')));
  return [head, el('ol', { class: 'steps', 'aria-label': say('timeline') }, ...drawSteps(number, trace, told))];
}

function drawSteps(number, trace, told) {
  const bySeq = new Map();
  for (const index of groupsOf(number)) {
    const row = report.groups[index];
    for (const seq of new Set([row[SEQ], ...row[WITNESSES].map((witness) => witness[0])])) {
      if (!bySeq.has(seq)) bySeq.set(seq, []);
      bySeq.get(seq).push(index);
    }
  }
  const lanes = ['main', ...told.lanes];
  const rows = [];
  let before = 0;
  let turn = '';
  for (const one of told.steps) {
    if (told.isWhole && one.index > before + 1) rows.push(leftOut(one.index - before - 1));
    before = one.index;
    const now = `${one.agent} ${one.turn}`;
    if (one.turn >= 0 && one.type !== 'tool.result' && now !== turn) {
      turn = now;
      rows.push(el('li', { class: 'turn soft' }, say('turn', { n: one.turn })));
    }
    rows.push(drawStep(one, lanes, bySeq.get(one.seq) ?? []));
  }
  if (told.isWhole && trace.events > before) rows.push(leftOut(trace.events - before));
  return rows;
}
const leftOut = (n) => el('li', { class: 'left-out soft' }, say('n-left-out', { n }));

function drawStep(one, lanes, found) {
  const lane = one.agent === '' || one.agent === 'main' ? 0 : Math.max(1, lanes.indexOf(one.agent));
  const text = one.type === 'tool.call' && !one.isQuote && one.text.startsWith(one.tool)
    ? [el('b', {}, one.tool), one.text.slice(one.tool.length)] : [one.text];
  const button = el('button', { class: 'step-row', type: 'button', 'aria-expanded': false },
    el('span', { class: 'index soft' }, one.index > 0 ? String(one.index) : '·'),
    el('span', { class: `type ${one.outcome}` }, word(`type-${one.type}`, one.type)),
    el('span', { class: 'text' },
      lane === 0 ? null : el('span', { class: 'lane' }, one.agent),
      el('bdi', { class: one.type.startsWith('tool.') ? 'mono' : null }, ...text.map((part, at) => (at === text.length - 1 && part.length > 320 ? `${part.slice(0, 320)}…` : part)))),
    el('span', { class: 'notes' }, ...notesOf(one)));
  const row = el('li', { class: `step ${one.type.replace('.', '-')} lane${Math.min(lane, 5)}`, 'data-seq': one.seq }, button, flag(found));
  button.addEventListener('click', () => unfold(row, button, one));
  return row;
}
function notesOf(one) {
  const notes = [];
  if (one.type === 'tool.result' && one.answers > 0) notes.push(el('span', { class: 'soft' }, say('answers', { i: one.answers })));
  if (one.isOpen) notes.push(el('span', { class: 'badge amber' }, say('unanswered')));
  if (one.hidden.length > 0) notes.push(el('span', { class: 'badge amber' }, say('redacted', { what: one.hidden.length })));
  if (one.by !== '') notes.push(el('span', { class: 'soft' }, say('by', { who: one.by })));
  return notes;
}

// From an event to the findings that name it; several of them one after the other.
function flag(found) {
  if (found.length === 0) return null;
  const worst = Math.min(...found.map((index) => report.groups[index][VERDICT]));
  return el('button', {
    class: `flag badge ${VERDICTS[worst]}`, type: 'button', title: say('n-findings', { n: found.length }),
    on: {
      click: () => {
        const next = found[(found.indexOf(selected) + 1) % found.length];
        if (!shown.includes(next)) clearFilter();
        showTab('findings');
        pick(next, true);
      },
    },
  }, `⚑ ${found.length}`);
}

function unfold(row, button, one) {
  const isOpen = button.getAttribute('aria-expanded') === 'true';
  button.setAttribute('aria-expanded', String(!isOpen));
  row.classList.toggle('open', !isOpen);
  if (isOpen) {
    row.querySelector('.whole')?.remove();
    return;
  }
  const rows = [];
  const add = (key, told) => { if (told !== '') rows.push(el('dt', {}, say(key)), el('dd', { class: 'mono' }, el('bdi', {}, told))); };
  add('place', one.spot);
  add('call-id', one.callId);
  if (one.hidden.length > 0) add('redacted', one.hidden.join(', '));
  if (one.type === 'gap' && !one.isQuote) rows.push(el('dd', {}, say('may-hide', { what: one.mayHide.join(', ') || say('anything') })));
  const more = (left) => (left > 0 ? el('p', { class: 'soft' }, say('chars-left', { n: left })) : null);
  row.append(el('div', { class: 'whole' },
    el('pre', {}, one.text), more(one.left), el('dl', { class: 'proof' }, ...rows),
    one.record === '' ? null : el('h3', { class: 'soft' }, say('raw-record')),
    one.record === '' ? null : el('pre', { class: 'record' }, one.record), more(one.recordLeft)));
}

// Mark the events of a finding, and bring its own event into view.
function mark(index) {
  for (const row of detail.querySelectorAll('.witness, .offending')) row.classList.remove('witness', 'offending');
  for (const note of detail.querySelectorAll('.note')) note.remove();
  if (index < 0) return;
  const group = unpackGroup(report.groups[index]);
  for (const witness of group.witnesses) {
    const row = detail.querySelector(`[data-seq="${Number(witness.seq)}"]`);
    if (row === null) continue;
    row.classList.add('witness');
    if (witness.note !== '') row.querySelector('.text').append(el('span', { class: 'note' }, witness.note));
  }
  const own = detail.querySelector(`[data-seq="${Number(group.seq)}"]`) ?? detail.querySelector('.witness');
  if (own === null) return;
  own.classList.add('offending');
  reveal(own);
}
function reveal(row) {
  const box = detail.getBoundingClientRect();
  const at = row.getBoundingClientRect();
  if (at.top < box.top + 40 || at.bottom > box.bottom - 40) detail.scrollTop += at.top - box.top - detail.clientHeight / 3;
}

function showEvent(trace, seq) {
  openTrace(trace, selected >= 0 && report.groups[selected][TRACE] === trace ? selected : -1);
  document.body.classList.add('detailed');
  const row = detail.querySelector(`[data-seq="${Number(seq)}"]`);
  if (row === null) return;
  reveal(row);
  row.querySelector('.step-row').focus({ preventScroll: true });
}
function showSelected() {
  if (selected < 0) return;
  const row = report.groups[selected];
  if (row[TRACE] < 0) return;
  const own = row[SEQ] >= 0 ? row[SEQ] : (row[WITNESSES][0]?.[0] ?? -1);
  document.body.classList.add('detailed');
  if (own >= 0) showEvent(row[TRACE], own);
  else detail.querySelector('h2')?.focus();
}
function closeDetail() {
  document.body.classList.remove('detailed');
  (document.querySelector('.finding.open .pick') ?? document.querySelector('.pick'))?.focus();
}
