// The packed report (packed.py): rows of numbers; texts stand apart, each once.
const texts = data('texts');
const report = { groups: data('groups'), traces: data('traces'), rules: data('rules') };
const VERDICTS = ['violated', 'inconclusive', 'vacuous', 'satisfied'];
const LEVELS = ['block', 'warn', 'observe'];
const [TRACE, VERDICT, GATES, SEQ, EVENT, OF, TURN, AGENT, SPOT, CONTRACT, WAIVED, MISSING, WITNESSES, MEMBERS] =
  Array(14).keys();

function unpackGroup(row) {
  return {
    trace: row[TRACE], verdict: VERDICTS[row[VERDICT]], gates: row[GATES] === 1,
    seq: row[SEQ], event: row[EVENT], of: row[OF], turn: row[TURN], agent: texts[row[AGENT]], spot: spot(row[SPOT]),
    contract: texts[row[CONTRACT]], waived: texts[row[WAIVED]], missing: row[MISSING].map((id) => texts[id]),
    witnesses: row[WITNESSES].map(([seq, note, quote, place, type]) => (
      { seq, note: texts[note], quote: texts[quote], spot: spot(place), type: texts[type] })),
    members: row[MEMBERS].map((member) => unpackMember(member, row[TRACE])),
  };
}
function unpackMember(row, trace) {
  const [rule, level, message, sentence, key, values, reason, place, cls, help, fingerprint, touched] = row;
  return {
    rule: texts[rule], level: LEVELS[level], message: texts[message], sentence: texts[sentence], key: texts[key],
    values: values.map((id) => texts[id]), reason: texts[reason], place: texts[place], cls: texts[cls],
    help: texts[help].replaceAll('\ue000', () => texts[rule])
      .replaceAll('\ue001', () => (trace < 0 ? '' : texts[report.traces[trace][0]])),
    fingerprint: texts[fingerprint], touched: touched.map((id) => texts[id]),
  };
}
function unpackTrace(row) {
  const [id, sources, format, unpinned, subject, events, calls, unanswered, skipped, end, verdicts, digests, metrics] = row;
  const many = (ids) => ids.map((one) => texts[one]);
  return {
    id: texts[id], sources: many(sources), format: texts[format], unpinned: unpinned === 1, subject: many(subject),
    events, calls, unanswered, skipped: texts[skipped], end: texts[end], verdicts, digests: many(digests),
    metrics: many(metrics),
  };
}
function spot(row, from = texts) {
  if (row.length === 0) return '';
  const seq = row.length > 2 ? `, ${say('raw-seq', { n: String(row[2] - 1) })}` : '';
  return `${from[row[0]]}${from[row[1]]}${seq}`;
}

// Which findings are about a trace; found once.
let byTrace = null;
function groupsOf(trace) {
  if (byTrace === null) {
    byTrace = new Map();
    report.groups.forEach((row, index) => {
      const about = byTrace.get(row[TRACE]);
      if (about === undefined) byTrace.set(row[TRACE], [index]);
      else about.push(index);
    });
  }
  return byTrace.get(trace) ?? [];
}

// The steps of a trace: all that were kept of it, else what its findings quote.
function stepsOf(trace) {
  const row = data(`timeline-${trace}`);
  if (row === null) return named(trace);
  const [lanes, steps, ownTexts] = row;
  return {
    lanes: lanes.map(([id]) => ownTexts[id]), steps: steps.map((one) => unpackStep(one, ownTexts)), isWhole: true,
  };
}
function unpackStep(row, from) {
  const [index, seq, type, agent, turn, tool, outcome, answers, open, text, left, hidden, mayHide, place, record,
    recordLeft, callId, by] = row;
  return {
    index, seq, type: from[type], agent: from[agent], turn, tool: from[tool], outcome: from[outcome], answers,
    isOpen: open === 1, text: from[text], left, hidden: hidden.map((id) => from[id]),
    mayHide: mayHide.map((id) => from[id]), spot: spot(place, from), record: from[record], recordLeft,
    callId: from[callId], by: from[by],
  };
}
function named(trace) {
  const steps = new Map();
  for (const index of groupsOf(trace)) {
    const group = unpackGroup(report.groups[index]);
    for (const witness of group.witnesses) {
      if (steps.has(witness.seq)) continue;
      const isPlace = witness.seq === group.seq;
      steps.set(witness.seq, {
        index: isPlace ? group.event : 0, seq: witness.seq, type: witness.type, agent: isPlace ? group.agent : '',
        turn: isPlace ? group.turn : -1, tool: '', outcome: '', answers: 0, isOpen: false, text: witness.quote, left: 0,
        hidden: [], mayHide: [], spot: witness.spot, record: '', recordLeft: 0, callId: '', by: '', isQuote: true,
      });
    }
  }
  return { lanes: [], steps: [...steps.values()].sort((one, other) => one.seq - other.seq), isWhole: false };
}

// A word of the catalogue for a word of the report; one that nobody knows stands for itself.
const word = (key, plain) => (Object.hasOwn(words, key) ? words[key] : plain);
