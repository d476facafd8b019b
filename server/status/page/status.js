// Asks /status.json again and again and shows what it says. Every value is put
// in as text: keys are what callers sent.

import {Histories, linePath} from './history.js';
import {noAnswer, notices} from './notices.js';
import {ago, bytes, instant, number, rate, seen, span} from './text.js';

const EVERY_MS = 2000;
const HIDDEN_MS = 30000;  // while nobody looks
const MOST_MS = 30000;    // between tries while there is no answer
const PATIENCE_MS = 10000;
const ORDER_MS = 30 * 1000;  // rules are ordered by the mean of that time
const CHART = {width: 300, height: 40};
const SVG = 'http://www.w3.org/2000/svg';

const byId = (id) => document.getElementById(id);

// Only if it changed, so that nothing is read out or laid out for nothing.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  if (options.name) element.className = options.name;
  if (options.role) element.setAttribute('role', options.role);
  if (options.label) element.dataset.label = options.label;
  if (options.text !== undefined) element.textContent = options.text;
  element.append(...children);
  return element;
}

function headCell(main, small) {
  const cell = make('th', {role: 'rowheader'}, main, small);
  cell.scope = 'row';
  return cell;
}

// ---- What is remembered from round to round.

const totals = new Histories();
const ruleHistories = new Histories();
const rows = new Map();  // of the rules, by name
let shown = null;        // the last status
let shownRules = [];

// The rules with their histories, and those of the service's totals.
function remember(status) {
  totals.begin(status.startedMs, status.atMs);
  ruleHistories.begin(status.startedMs, status.atMs);
  const total = (name, count) => totals.add(name, count);
  const service = status.service;
  const sums = {
    overload: total('overload', service.overload),
    expired: total('expired', service.expired),
    invalid: total('invalid', service.invalid),
    overflow: total('overflow', status.memory.overflow),
    swept: total('swept', status.memory.swept),
    connectionsRefused: total('connectionsRefused', status.connections.refused),
    connectionsKilled: total('connectionsKilled', status.connections.killed),
    storeErrors: total('storeErrors', status.store.errors),
    outage: total('outage', status.store.outage),
    saveFailures: total('saveFailures', status.stateFile.failures),
  };
  const rules = status.rules.map((rule) => {
    const name = `${rule.domain} ${rule.rule}`;
    const id = JSON.stringify([rule.domain, rule.rule]);
    const add = (what, count) => ruleHistories.add(id + what, count);
    const refused = rule.refused + rule.impossible;
    return {
      ...rule, id, name,
      allowed: add('allowed', rule.allowed),
      refused: add('refused', refused),
      shadow: add('shadow', rule.shadowRefused),
      charted: add('charted', refused + rule.shadowRefused),
    };
  });
  return {sums, rules};
}

// ---- The table of rules.

function makeChart() {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${CHART.width} ${CHART.height}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  svg.setAttribute('class', 'chart');
  svg.setAttribute('role', 'img');
  const [refused, allowed] = ['refused', 'allowed'].map((name) => {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', name);
    svg.append(path);
    return path;
  });
  return {svg, refused, allowed};
}

function makeRow() {
  const row = {
    name: make('span'), domain: make('small'),
    limits: make('span'), mode: make('small'),
    allowed: make('span'),
    refused: make('span'), shadow: make('small'),
    chart: makeChart(), peak: make('small'),
  };
  row.element = make('tr', {role: 'row'},
      headCell(row.name, row.domain),
      make('td', {role: 'cell', name: 'wide'}, row.limits, row.mode),
      make('td', {role: 'cell', name: 'number', label: 'Allowed/s'},
           row.allowed),
      make('td', {role: 'cell', name: 'number', label: 'Refused/s'},
           row.refused, row.shadow),
      make('td', {role: 'cell', name: 'wide chart-cell'}, row.chart.svg,
           row.peak));
  return row;
}

function fillChart(row, rule, window) {
  const peak = Math.max(rule.allowed.peak(), rule.charted.peak());
  const line = (history, closed) => linePath(
      history, window, Math.max(peak, 1e-9), CHART.width, CHART.height, closed);
  row.chart.allowed.setAttribute('d', line(rule.allowed, false));
  row.chart.refused.setAttribute('d', line(rule.charted, true));
  setText(row.peak, peak === 0 ? 'quiet' : `peak ${number(peak)}/s`);
  row.chart.svg.setAttribute('aria-label',
      `In the last ${span(window.endMs - window.startMs)}: allowed at most ` +
      `${number(rule.allowed.peak())} per second, refused at most ` +
      `${number(rule.charted.peak())}`);
}

function fillRow(row, rule, window) {
  setText(row.name, seen(rule.rule));
  setText(row.domain, 'domain ' + seen(rule.domain));
  setText(row.limits, seen(rule.limits));
  setText(row.mode, rule.mode);
  setText(row.allowed, rate(rule.allowed.now()));
  setText(row.refused, rate(rule.refused.now()));
  row.refused.className = rule.refused.now() > 0 ? 'refusing' : '';
  const shadow = rule.shadow.now();
  setText(row.shadow, shadow > 0 ? `and ${number(shadow)} in shadow` : '');
  fillChart(row, rule, window);
}

// Those that come first have the larger number; equal ones go by name.
const ORDERS = {
  refused: (rule) => rule.charted.mean(ORDER_MS),
  allowed: (rule) => rule.allowed.mean(ORDER_MS),
  name: () => 0,
};

function foundRules() {
  const wanted = byId('find').value.toLowerCase();
  const weigh = ORDERS[byId('order').value];
  return shownRules
      .filter((rule) => rule.name.toLowerCase().includes(wanted))
      .map((rule) => ({rule, weight: weigh(rule)}))
      .sort((a, b) => b.weight - a.weight ||
                (a.rule.name < b.rule.name ? -1 : 1))
      .map((found) => found.rule);
}

// Moves no row that is in its place, so that a selection stays.
function place(body, elements) {
  elements.forEach((element, i) => {
    if (body.children[i] !== element) {
      body.insertBefore(element, body.children[i] ?? null);
    }
  });
  while (body.children.length > elements.length) body.lastChild.remove();
}

function showRules() {
  const found = foundRules();
  const old = new Map(rows);
  rows.clear();
  const window = ruleHistories.window();
  setText(byId('charts-title'), 'Last ' + span(window.endMs - window.startMs));
  const elements = found.map((rule) => {
    const row = old.get(rule.id) ?? makeRow();
    rows.set(rule.id, row);
    fillRow(row, rule, window);
    return row.element;
  });
  place(byId('rules').tBodies[0], elements);
  const parts = [`${found.length} of ${shown.load.rules} rules`];
  if (shown.rulesLeftOut > 0) {
    parts.push(`${shown.rulesLeftOut} that refused less since the start are ` +
               'left out');
  }
  setText(byId('rules-note'), parts.join('; ') + '.');
}

// ---- The table of keys.

function keyRow(key, atMs) {
  const text = key.key === '' ? '(one bucket for all)' : seen(key.key);
  const error = key.error > 0 ? `up to ${number(key.error)} too many` : '';
  return make('tr', {role: 'row'},
      headCell(make('bdi', {name: 'key', text}), ''),
      make('td', {role: 'cell', name: 'wide'},
           make('span', {text: seen(key.rule)}),
           make('small', {text: 'domain ' + seen(key.domain) +
                                (key.shadow ? ', in shadow' : '')})),
      make('td', {role: 'cell', name: 'number', label: 'Refused'},
           number(key.count), make('small', {text: error})),
      make('td', {role: 'cell', name: 'number', label: 'Of the rule',
                  text: (100 * key.share).toFixed(1) + '%'}),
      make('td', {role: 'cell', name: 'last', label: 'Last',
                  text: ago(atMs - key.lastMs)}));
}

function keysNote(refused) {
  if (refused.mode === 'off') {
    return 'The server keeps no refused keys (--top-refused=off).';
  }
  if (refused.keys.length === 0) return 'Nobody was refused lately.';
  const parts = ['Counts halve every ' + span(refused.halfLifeSeconds * 1000)];
  if (refused.mode === 'hashed') parts.push('keys are hashed');
  if (refused.leftOut) parts.push('keys refused less are left out');
  if (refused.missed > 0) {
    parts.push(`${number(refused.missed)} refusals were not counted`);
  }
  return parts.join('; ') + '.';
}

function showKeys(status) {
  const refused = status.refusedKeys;
  setText(byId('keys-note'), keysNote(refused));
  byId('keys').hidden = refused.keys.length === 0;
  byId('keys').tBodies[0].replaceChildren(
      ...refused.keys.map((key) => keyRow(key, status.atMs)));
}

// ---- Numbers and parts.

// Pairs of a name and a value, the latter with a small line or none.
function showList(list, pairs) {
  while (list.children.length < pairs.length) {
    list.append(make('div', {}, make('dt'),
                     make('dd', {}, make('span'), make('small'))));
  }
  pairs.forEach(([name, value, small = ''], i) => {
    const [term, data] = list.children[i].children;
    setText(term, name);
    setText(data.children[0], value);
    setText(data.children[1], small);
  });
}

function showNumbers(status, sums) {
  const {connections, memory, service} = status;
  const used = 100 * memory.buckets / memory.maxBuckets;
  showList(byId('numbers'), [
    ['Calls in flight', number(service.inFlight),
     `at most ${number(service.maxInFlight)}`],
    ['Turned away/s',
     rate(sums.overload.now() === null ? null :
         sums.overload.now() + sums.expired.now()),
     `${number(service.overload)} overload, ${number(service.expired)} late ` +
     'since the start'],
    ['Invalid requests/s', rate(sums.invalid.now()),
     `${number(service.invalid)} since the start`],
    ['Connections', number(connections.open) +
     (connections.max > 0 ? ` of ${number(connections.max)}` : ''),
     `${number(connections.refused)} refused, ${number(connections.killed)} ` +
     'cut since the start'],
    ['Buckets', number(memory.buckets),
     `${used.toFixed(used < 10 ? 1 : 0)}% of ${number(memory.maxBuckets)}`],
    ['Overflow/s', rate(sums.overflow.now()),
     `${number(memory.overflow)} since the start`],
    ['Memory', bytes(memory.residentBytes), `${memory.openFds} open files`],
    ['Policy watchers', number(service.watchers), 'clients'],
  ]);
}

function stateFileText(status) {
  const file = status.stateFile;
  if (!file.on) return 'none: a restart forgets what was spent (--state-file)';
  const saved = file.savedMs === 0 ? 'not yet saved' :
      'saved ' + ago(status.atMs - file.savedMs);
  return `${saved}; ${number(file.restored)} buckets restored at the start; ` +
      `${number(file.failures)} saves failed`;
}

function storeText(store, sums) {
  const text = (store.ok ? '' : 'UNREACHABLE: ') + seen(store.text);
  if (store.errors === 0 && store.outage === 0) return text;
  return `${text}\n${rate(sums.storeErrors.now())} runs/s fail, ` +
      `${number(store.errors)} since the start; outage policies decide ` +
      `${rate(sums.outage.now())}/s, ${number(store.outage)} since the start`;
}

function showParts(status, sums) {
  const load = status.load;
  showList(byId('parts'), [
    ['Rules', `${number(load.rules)} in force, hash ${load.hash}`],
    ['Last load', (load.ok ? 'went well' : 'FAILED') + ', ' +
                  ago(status.atMs - load.atMs), instant(load.atMs)],
    ['Store', storeText(status.store, sums)],
    ['State file', stateFileText(status)],
  ]);
}

function showAttention(lines) {
  const list = byId('attention');
  const all = lines.length > 0 ? lines : ['Nothing stands out.'];
  const same = list.children.length === all.length &&
      all.every((line, i) => list.children[i].textContent === line);
  if (same) return;
  list.replaceChildren(...all.map(
      (text) => make('li', {text, name: lines.length > 0 ? '' : 'good'})));
}

function showState(text, name) {
  const badge = byId('state');
  setText(badge, text);
  badge.className = 'badge ' + name;
}

function show(status) {
  const {sums, rules} = remember(status);
  shown = status;
  shownRules = rules;
  showState(status.ready ? 'READY' : 'NOT READY',
            status.ready ? 'good' : 'bad');
  setText(byId('about'), `version ${status.version}, up ` +
          `${span(status.atMs - status.startedMs)}, ` + instant(status.atMs));
  showAttention(notices(status, sums, rules));
  showNumbers(status, sums);
  showRules();
  showKeys(status);
  showParts(status, sums);
}

// ---- Asking.

let paused = false;
let asking = false;
let timer = null;
let failures = 0;
let answeredAt = performance.now();

async function ask() {
  const response = await fetch(
      '/status.json',
      {cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS)});
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

function next() {
  const wait = Math.min(EVERY_MS * 2 ** failures, MOST_MS);
  clearTimeout(timer);
  timer = setTimeout(round, document.hidden ? HIDDEN_MS : wait);
}

async function round() {
  if (paused || asking) return;
  asking = true;
  try {
    const status = await ask();
    failures = 0;
    answeredAt = performance.now();
    if (!paused) show(status);
  } catch (error) {
    ++failures;
    showState('NO ANSWER', 'bad');
    showAttention([noAnswer(seen(error.message),
                            performance.now() - answeredAt)]);
  }
  asking = false;
  next();
}

byId('pause').addEventListener('click', () => {
  paused = !paused;
  byId('pause').setAttribute('aria-pressed', String(paused));
  setText(byId('pause'), paused ? 'Go on' : 'Pause');
  if (!paused) round();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) round();
});
for (const id of ['find', 'order']) {
  byId(id).addEventListener('input', () => {
    if (shown !== null) showRules();
  });
}
round();
