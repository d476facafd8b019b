// What counters did in the time that this page was open. Nothing here touches
// the page.

export const KEPT_MS = 5 * 60 * 1000;
const LEAST_MS = 30 * 1000;  // that a chart shows

// The rate at which a counter grows, at each time that it was read. Instants
// are the server's own, in milliseconds.
export class RateHistory {
  constructor() {
    this.atMs = null;
    this.count = 0;
    this.points = [];  // {atMs, rate}, the oldest first
  }

  add(atMs, count) {
    if (this.atMs !== null && count < this.count) this.points = [];
    const known = this.atMs !== null && count >= this.count;
    if (known && atMs > this.atMs) {
      const seconds = (atMs - this.atMs) / 1000;
      this.points.push({atMs, rate: (count - this.count) / seconds});
    }
    this.atMs = atMs;
    this.count = count;
    while (this.points.length > 0 && this.points[0].atMs < atMs - KEPT_MS) {
      this.points.shift();
    }
  }

  // Per second as it was last seen; null before there are two readings.
  now() {
    const last = this.points[this.points.length - 1];
    return last === undefined ? null : last.rate;
  }

  // The mean of the points of the last `ms`; 0 where there are none.
  mean(ms) {
    const recent = this.points.filter((p) => p.atMs > this.atMs - ms);
    const sum = recent.reduce((total, p) => total + p.rate, 0);
    return recent.length === 0 ? 0 : sum / recent.length;
  }

  peak() {
    return this.points.reduce((most, p) => Math.max(most, p.rate), 0);
  }
}

// One history for each name that the last round named; others are forgotten.
export class Histories {
  constructor() {
    this.startedMs = null;
    this.sinceMs = null;  // of the first round since the server's start
    this.byName = new Map();
  }

  // Begins a round: counters start at 0 with the server.
  begin(startedMs, atMs) {
    if (this.startedMs !== startedMs) {
      this.byName.clear();
      this.sinceMs = atMs;
    }
    this.startedMs = startedMs;
    this.atMs = atMs;
    this.old = this.byName;
    this.byName = new Map();
  }

  add(name, count) {
    const history = this.old.get(name) ?? new RateHistory();
    history.add(this.atMs, count);
    this.byName.set(name, history);
    return history;
  }

  // The time that charts show.
  window() {
    const endMs = this.atMs;
    const keptMs = Math.max(LEAST_MS, Math.min(KEPT_MS, endMs - this.sinceMs));
    return {startMs: endMs - keptMs, endMs};
  }
}

// Points as a line in a box of `width` by `height`, for a path's "d": from
// `window.startMs` at the left to `window.endMs` at the right, `top` as high as
// the box. Closed at the bottom if asked; empty where all is 0.
export function linePath(history, window, top, width, height, closed) {
  const points = history.points;
  if (history.peak() === 0) return '';
  const span = window.endMs - window.startMs;
  const x = (p) => (p.atMs - window.startMs) / span * width;
  const y = (p) => height - 1 - p.rate / top * (height - 2);
  const line = points.map((p) => x(p).toFixed(1) + ' ' + y(p).toFixed(1));
  if (!closed) return 'M' + line.join('L');
  const left = x(points[0]).toFixed(1);
  const right = x(points[points.length - 1]).toFixed(1);
  return `M${left} ${height}L${line.join('L')}L${right} ${height}Z`;
}
