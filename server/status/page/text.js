// Values as text for people. Nothing here touches the page.

// Characters that are not seen, or that turn the direction of writing so that
// a text looks like another one.
const UNSEEN = new RegExp(
    '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f' +
    '\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]', 'g');

// What a caller wrote, with those as numbers: it is put in as text, so it can
// do nothing, and cannot pretend to be another text either.
export function seen(text) {
  return text.replace(
      UNSEEN, (c) => '\\u{' + c.codePointAt(0).toString(16) + '}');
}

// 0, 0.03, 4.2, 17, 1,234, 5.6 M.
export function number(value) {
  if (value >= 1e9) return (value / 1e9).toFixed(1) + ' G';
  if (value >= 1e6) return (value / 1e6).toFixed(1) + ' M';
  if (value >= 10) return Math.round(value).toLocaleString('en');
  if (value >= 0.95) return String(Math.round(value * 10) / 10);
  return value === 0 ? '0' : String(Math.max(0.01, +value.toFixed(2)));
}

// A rate that may not be known yet.
export function rate(value) {
  return value === null ? '…' : number(value);
}

// 512 KiB, 38.2 MiB.
export function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    ++unit;
  }
  return (unit > 1 ? value.toFixed(1) : Math.round(value)) + ' ' + units[unit];
}

// 4 s, 12 min, 3 h 5 min, 2 d 7 h.
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes < 2) return seconds + ' s';
  if (hours < 2) return minutes + ' min';
  if (hours < 48) return hours + ' h ' + minutes % 60 + ' min';
  return Math.floor(hours / 24) + ' d ' + hours % 24 + ' h';
}

export function ago(ms) {
  return ms < 1500 ? 'now' : span(ms) + ' ago';
}

// 2026-03-01 17:04:05 UTC.
export function instant(ms) {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ') + ' UTC';
}
