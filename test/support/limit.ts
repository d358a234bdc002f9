/** Limits of receivers: how many calls they take, and what they ask of those that come too soon. */

/** Takes a call at a time, or says how long to wait, ms; null: it is taken. */
export type Limit = (nowMs: number) => number | null;

type Round = (seconds: number) => number;

/** Takes `rate` calls a second, and `burst` at once after a rest. */
export function bucket(rate: number, burst: number, round: Round = Math.ceil): Limit {
  let tokens = burst;
  let lastMs = 0;
  return (nowMs) => {
    tokens = Math.min(burst, tokens + ((nowMs - lastMs) / 1000) * rate);
    lastMs = nowMs;
    if (tokens < 1 - 1e-9) return round((1 - tokens) / rate) * 1000;
    tokens -= 1;
    return null;
  };
}

/** Takes `count` calls in any `windowMs`. */
export function sliding(count: number, windowMs: number, round: Round = Math.ceil): Limit {
  let taken: number[] = [];
  return (nowMs) => {
    taken = taken.filter((atMs) => atMs > nowMs - windowMs);
    const [first] = taken;
    if (taken.length >= count && first !== undefined) {
      return round((first + windowMs - nowMs) / 1000) * 1000;
    }
    taken.push(nowMs);
    return null;
  };
}
