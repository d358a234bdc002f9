/** Names of browsers in `User-Agent`, in the order of the search. */

const BROWSERS = [
  ['Edge', /Edg(?:A|iOS)?\/(\d+)/],
  ['Opera', /OPR\/(\d+)/],
  ['Firefox', /(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /Version\/(\d+).*Safari/],
] as const;
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'] as const;

/** Returns browser and system of a `User-Agent`; null: neither is known. */
export function agentIn(text: string): { browser: string; system: string } | null {
  const [name, pattern] = BROWSERS.find(([, one]) => one.test(text)) ?? [];
  const system = SYSTEMS.find((one) => text.includes(one));
  if (name === undefined || system === undefined) return null;
  return { browser: `${name} ${pattern?.exec(text)?.[1]}`, system };
}
