/**
 * The header `X-Device-Info` of older apps, which has all facts in one text. No public document
 * defines its form: these two are read, others are ignored.
 *
 * | Form | Example |
 * |---|---|
 * | a JSON object | `{"os":"Android","osVersion":"15","model":"Pixel 9"}` |
 * | names with values, separated by `;`, `&` or `,` | `os=Android; os_version=15; model=Pixel 9` |
 */

import { DEVICE_FACTS, FACT_FIELDS, NO_FACTS } from './device-facts.ts';
import { readJsonObject } from './json-input.ts';
import { isRefused } from './outcome.ts';
import type { DeviceFacts } from './port/device.ts';

/** Bounds beyond which a header is ignored. */
const BOUNDS = { bytesMax: 2_048, valuesMax: 64 };

/** The facts of an older app; a missing fact is empty. */
export type DeviceInfo = DeviceFacts & { hwid: string };

const NOTHING: DeviceInfo = { hwid: '', ...NO_FACTS };

const FACT_OF = new Map<string, keyof DeviceInfo>([
  ['hwid', 'hwid'],
  ...FACT_FIELDS.flatMap((fact) => DEVICE_FACTS[fact].older.map((name) => [name, fact] as const)),
]);

/** Reads the facts in a header `X-Device-Info`. Accepts any text and refuses none. */
export function readDeviceInfo(header: string): DeviceInfo {
  if (header.length > BOUNDS.bytesMax) return NOTHING;
  const text = header.trim();
  if (text.startsWith('{')) {
    const object = readJsonObject(text, BOUNDS, 'X-Device-Info');
    return isRefused(object) ? NOTHING : fromPairs(Object.entries(object));
  }
  const separator = [';', '&', ','].find((sign) => text.includes(sign)) ?? ';';
  const pairs = text.split(separator, BOUNDS.valuesMax).flatMap((part): [string, string][] => {
    const [, name, value] = /^([^=:]*)[=:](.*)$/s.exec(part) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return fromPairs(pairs);
}

/** Takes the first value of each fact; ignores values that are neither texts nor numbers. */
function fromPairs(pairs: readonly (readonly [string, unknown])[]): DeviceInfo {
  const info = { ...NOTHING };
  for (const [name, value] of pairs) {
    const fact = FACT_OF.get(name.toLowerCase().replace(/^\s*x-|[-_\s"']/g, ''));
    if (fact === undefined || info[fact] !== '') continue;
    if (typeof value === 'string') info[fact] = value.trim().replace(/^"(.*)"$/s, '$1');
    else if (typeof value === 'number') info[fact] = String(value);
  }
  return info;
}
