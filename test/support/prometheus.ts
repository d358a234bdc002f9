/**
 * Reads the text exposition format of Prometheus, version 0.0.4, by its own grammar and strictly:
 * what a real scraper would refuse or misread is an error here.
 */

export interface Family {
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*';
/** Inside of the quotes, a backslash, a quote and a line feed are escaped, and nothing else is. */
const TEXT = String.raw`(?:[^"\\\n]|\\["\\n])*`;
const VALUE = String.raw`[+-]?Inf|NaN|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`;
const SAMPLE = new RegExp(`^(${NAME})(?:\\{((?:${LABEL}="${TEXT}",?)*)\\})? (${VALUE})$`);
const PAIR = new RegExp(`(${LABEL})="(${TEXT})"(?:,|$)`, 'y');
const TYPES = new Set(['counter', 'gauge', 'histogram']);

/** The metrics of a page, by name. Throws at the first line that does not fit. */
export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current: [name: string, family: Family] | null = null;
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const meta = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line);
    if (meta) {
      const [, kind, name = '', rest = ''] = meta;
      if (kind === 'HELP') {
        if (families.has(name)) throw new Error(`${name} comes twice`);
        current = [name, { type: '', help: rest, samples: [] }];
        families.set(...current);
      } else if (current?.[0] !== name || current[1].type !== '' || !TYPES.has(rest)) {
        throw new Error(`misplaced: ${line}`);
      } else {
        current[1].type = rest;
      }
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (!sample || !current) throw new Error(`not a sample: ${line}`);
    const [, name = '', labels = '', value = ''] = sample;
    if (!belongs(name, current)) throw new Error(`${name} among the values of ${current[0]}`);
    const key = line.slice(0, line.lastIndexOf(' '));
    if (seen.has(key)) throw new Error(`the same series twice: ${key}`);
    seen.add(key);
    current[1].samples.push({ name, labels: parseLabels(labels), value: numberOf(value) });
  }
  for (const [name, family] of families) check(name, family);
  return families;
}

function belongs(name: string, [of, { type }]: [string, Family]): boolean {
  return type === 'histogram'
    ? [`${of}_bucket`, `${of}_sum`, `${of}_count`].includes(name)
    : name === of;
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  PAIR.lastIndex = 0;
  for (let at = 0; at < text.length; at = PAIR.lastIndex) {
    const [, name = '', value = ''] = PAIR.exec(text) ?? [];
    if (name === '' || name in labels) throw new Error(`labels: ${text}`);
    labels[name] = value.replace(/\\(.)/g, (_, mark) => (mark === 'n' ? '\n' : mark));
  }
  return labels;
}

function numberOf(text: string): number {
  return Number(text.replace('Inf', 'Infinity'));
}

/** Rules about a metric as a whole. */
function check(name: string, { type, help, samples }: Family): void {
  if (help === '' || type === '') throw new Error(`${name} says not what it is`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name}: a counter's name`);
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0))) {
    throw new Error(`${name}: a counter below zero`);
  }
  if (type !== 'histogram') return;
  const groups = Map.groupBy(samples, ({ labels: { le: _, ...rest } }) => JSON.stringify(rest));
  for (const [labels, group] of groups) {
    const of = (part: string) => group.filter((sample) => sample.name === `${name}_${part}`);
    const buckets = of('bucket');
    const bounds = buckets.map(({ labels: { le = '' } }) => numberOf(le));
    const isSorted = bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] as number));
    const isCumulative = buckets.every(
      ({ value }, i) => i === 0 || value >= (buckets[i - 1]?.value as number),
    );
    const isWhole = of('sum').length === 1 && of('count')[0]?.value === buckets.at(-1)?.value;
    if (!isSorted || !isCumulative || !isWhole || bounds.at(-1) !== Number.POSITIVE_INFINITY) {
      throw new Error(`${name}${labels}: no histogram`);
    }
  }
}

/** The value of one series; throws when there is none. */
export function seriesValue(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Record<string, string> = {},
): number {
  const family = families.get(name) ?? families.get(name.replace(/_(?:count|sum|bucket)$/, ''));
  const found = family?.samples.find(
    (sample) =>
      sample.name === name &&
      JSON.stringify(Object.entries(sample.labels).sort()) ===
        JSON.stringify(Object.entries(labels).sort()),
  );
  if (!found) throw new Error(`there is no ${name} with ${JSON.stringify(labels)}`);
  return found.value;
}

/** The complaints of `promtool check metrics`; empty where there is no promtool. */
export function lint(text: string): string {
  if (Bun.which('promtool') === null) return '';
  const { stderr, exitCode } = Bun.spawnSync(['promtool', 'check', 'metrics'], {
    stdin: Buffer.from(text),
  });
  return exitCode === 0 ? '' : stderr.toString();
}
