// What of a status needs a person's attention, as lines of text, the most
// urgent first. Nothing here touches the page.

import {ago, number, seen, span} from './text.js';

const RECENT_MS = 30 * 1000;
const MOST = 0.5;        // of a rule's requests
const NEARLY_FULL = 0.9;
const MAX_RULES = 5;

function ofService(status, totals) {
  const lines = [];
  if (!status.ready) lines.push('Not ready. ' + seen(status.reason));
  if (!status.store.ok) lines.push('Store: ' + seen(status.store.text));
  const outage = totals.outage.mean(RECENT_MS);
  if (outage > 0) {
    lines.push(`The rules’ outage policies decide ${number(outage)} ` +
               'requests/s (on_outage).');
  }
  const overload = totals.overload.mean(RECENT_MS);
  if (overload > 0) {
    lines.push(`Overloaded: ${number(overload)} calls/s are turned away ` +
               'undecided (--max-in-flight).');
  }
  const expired = totals.expired.mean(RECENT_MS);
  if (expired > 0) {
    lines.push(`${number(expired)} calls/s came after their deadline and ` +
               'were not decided.');
  }
  const refused = totals.connectionsRefused.mean(RECENT_MS);
  if (refused > 0) {
    lines.push(`${number(refused)} connections/s are refused; the log says ` +
               'why (--max-connections).');
  }
  const cut = totals.connectionsKilled.mean(RECENT_MS);
  if (cut > 0) {
    lines.push(`${number(cut)} connections/s are cut; the log names whose.`);
  }
  return lines;
}

function ofParts(status, totals) {
  const lines = [];
  if (!status.load.ok) {
    lines.push(
        'The last reload failed, ' + ago(status.atMs - status.load.atMs) +
        '; the rules before it stay in force:\n' +
        status.load.error.split('\n').map(seen).join('\n'));
  }
  const memory = status.memory;
  const overflow = totals.overflow.mean(RECENT_MS);
  if (overflow > 0) {
    lines.push(`No room for new keys: ${number(overflow)} requests/s share ` +
               'their rules’ overflow buckets (--max-buckets).');
  } else if (memory.buckets > NEARLY_FULL * memory.maxBuckets) {
    lines.push('Nearly as many buckets as there is room for.');
  }
  if (status.stateFile.on && totals.saveFailures.mean(RECENT_MS * 4) > 0) {
    lines.push('The state file cannot be written; the log says why.');
  }
  return lines;
}

function ofRules(rules) {
  const refusing = [];
  for (const rule of rules) {
    const refused = rule.refused.mean(RECENT_MS);
    const all = refused + rule.allowed.mean(RECENT_MS);
    if (refused > 0 && refused > MOST * all) {
      refusing.push({name: rule.name, refused, part: refused / all});
    }
  }
  refusing.sort((a, b) => b.refused - a.refused);
  const lines = refusing.slice(0, MAX_RULES).map(
      (r) => `${seen(r.name)} refuses ${Math.round(100 * r.part)}% of its ` +
          `requests, ${number(r.refused)}/s.`);
  if (refusing.length > MAX_RULES) {
    lines.push(`So do ${refusing.length - MAX_RULES} more rules.`);
  }
  return lines;
}

// `totals` and each of `rules` have histories; see status.js.
export function notices(status, totals, rules) {
  return [...ofService(status, totals), ...ofParts(status, totals),
          ...ofRules(rules)];
}

export function noAnswer(problem, sinceMs) {
  return `No answer from the server for ${span(sinceMs)}: ${problem}. ` +
      'What is below is of then.';
}
