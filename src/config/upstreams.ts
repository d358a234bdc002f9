/**
 * Upstreams of the gate that operators add beside those of the configuration: read by the same
 * rules, and written in the same form.
 */

import type { KeptUpstream, UpstreamKeys } from '../core/port/upstream.ts';
import { panelConflicts } from './conflicts.ts';
import { GATE_TABLES, gateSettings } from './settings/gate.ts';
import type { Config } from './settings/index.ts';
import { TableMistakes } from './tables.ts';

type Upstream = Config['gateUpstreams'][number];

const { gateUpstreams: SETTING } = gateSettings;
/** Files with secrets are read at the start, so only the configuration may name them. */
const KEYS = Object.values(GATE_TABLES.upstreamKeys).map(({ key }) => key);
const { keySecretFile, panelAccountFile, panelHeadersFile, panelTokenFile, providerIdFile } =
  GATE_TABLES.upstreamKeys;
const OF_FILE = [
  ...[keySecretFile, panelAccountFile, panelHeadersFile, panelTokenFile, providerIdFile],
].map(({ key }) => key);
const { cutOff, panelAdmin, followMs, panelFile, followGone, followNotes } =
  GATE_TABLES.upstreamKeys;
/** Keys of cut-off, which changes users of a panel: the console may not switch it on. */
const OF_CUT_OFF = [cutOff, panelAdmin].map(({ key }) => key);
/** Keys of `follow`, which brings customers of a panel here: the console may not switch it on. */
const OF_FOLLOW = [followMs, panelFile, followGone, followNotes].map(({ key }) => key);

/** Reads an upstream from its keys, by the rules of the configuration. Throws RangeError. */
export function readUpstream(keys: UpstreamKeys): Upstream {
  const named = OF_FILE.find((key) => Object.hasOwn(keys, key));
  if (named !== undefined) throw new RangeError(`${named}: only the configuration names files`);
  const follows = OF_FOLLOW.find((key) => Object.hasOwn(keys, key));
  if (follows !== undefined) {
    throw new RangeError(`${follows}: only the configuration follows a panel`);
  }
  const cuts = OF_CUT_OFF.find((key) => Object.hasOwn(keys, key));
  if (cuts !== undefined) {
    throw new RangeError(`${cuts}: only the configuration lets a panel change credentials`);
  }
  try {
    const upstream = SETTING.read(JSON.stringify([keys]))[0] as Upstream;
    const [conflict] = panelConflicts(upstream);
    if (conflict !== undefined) throw new RangeError(conflict);
    return upstream;
  } catch (error) {
    if (!(error instanceof TableMistakes)) throw error;
    // There is only one table, so its number is left out.
    const mistakes = error.mistakes.map(({ place, reason }) => {
      const key = place.replace(/^1\.?/, '');
      return key === '' ? reason : `${key}: ${reason}`;
    });
    throw new RangeError(mistakes.join('; '));
  }
}

/** Reads keys in the form of lines below the heading of the table. Throws RangeError. */
export function readUpstreamKeys(toml: string): UpstreamKeys {
  try {
    return Bun.TOML.parse(toml) as UpstreamKeys;
  } catch {
    throw new RangeError('the lines are not key = value as in the configuration');
  }
}

/**
 * Returns the active upstreams: `own` of the configuration, and kept ones of other hosts. Omits
 * those that this version cannot read, and passes them to `onMistake`.
 */
export function mergeUpstreams<U extends { readonly host: string }>(
  own: readonly U[],
  kept: readonly KeptUpstream[],
  onMistake: (host: string, reason: string) => void = () => {},
): readonly (U | Upstream)[] {
  const taken = new Set(own.map(({ host }) => host));
  const others = kept.filter(({ host }) => !taken.has(host));
  const read = others.flatMap(({ host, settings }) => {
    try {
      return [readUpstream(JSON.parse(settings) as UpstreamKeys)];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      onMistake(host, error.message);
      return [];
    }
  });
  return read.length === 0 ? own : [...own, ...read];
}

/** Writes an upstream as a table of the configuration. */
export function upstreamToml(keys: UpstreamKeys): string {
  const lines = KEYS.filter((key) => Object.hasOwn(keys, key)).map(
    (key) => `${key} = ${JSON.stringify(keys[key])}`,
  );
  return `${[`[[${SETTING.key}]]`, ...lines].join('\n')}\n`;
}

/** Lists the keys of each upstream of the configuration. */
export function ownUpstreamKeys(text: string): UpstreamKeys[] {
  return text === '' ? [] : (JSON.parse(text) as UpstreamKeys[]);
}
