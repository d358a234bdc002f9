/**
 * The header `X-Device-Info` of older apps, which held in one text what a header each holds today.
 * No document says in which form, so all that are found for a header of this name are read, and
 * whatever fits none says nothing:
 *
 * | Form | Example |
 * |---|---|
 * | a JSON object | `{"os":"Android","osVersion":"15","model":"Pixel 9"}` |
 * | names with values, parted by `;`, `&` or `,` | `os=Android; os_version=15; model=Pixel 9` |
 * | the values of system, version, model and app version, parted by `;` | `Android; 15; Pixel 9` |
 * | one text: the model | `Pixel 9` |
 */

import { readJsonObject } from './json-input.ts';
import { isRefused } from './outcome.ts';
import type { DeviceFacts } from './port/device.ts';

/** Beyond these bounds nothing is read. */
const BOUNDS = { bytesMax: 2_048, valuesMax: 64 };

/** The words of an older app: an empty text where it said nothing. */
export type DeviceInfo = DeviceFacts & { hwid: string };

const SILENCE: DeviceInfo = {
  hwid: '',
  os: '',
  osVersion: '',
  deviceName: '',
  appVersion: '',
  userAgent: '',
};

/** The names of facts in such headers, without case, `-`, `_`, blanks and a leading `x-`. */
const NAMES_OF: Readonly<Record<keyof DeviceInfo, readonly string[]>> = {
  hwid: ['hwid'],
  os: ['os', 'osname', 'deviceos', 'platform', 'system'],
  osVersion: ['osversion', 'osver', 'veros', 'systemversion'],
  deviceName: ['devicemodel', 'model', 'devicename', 'device'],
  appVersion: ['appversion', 'appver'],
  userAgent: ['useragent', 'appname', 'app'],
};

const FACTS = Object.keys(NAMES_OF) as (keyof DeviceInfo)[];
const FACT_OF = new Map(FACTS.flatMap((fact) => NAMES_OF[fact].map((name) => [name, fact])));

const IN_ORDER = ['os', 'osVersion', 'deviceName', 'appVersion'] as const;

/** The facts in a header `X-Device-Info`. Reads anything, refuses nothing. */
export function readDeviceInfo(header: string): DeviceInfo {
  if (header.length > BOUNDS.bytesMax) return SILENCE;
  const text = header.trim();
  if (text.startsWith('{')) return fromObject(text);
  const parts = partsOf(text);
  const pairs = parts.flatMap((part): [string, string][] => {
    const [, name, value] = /^([^=:]*)[=:](.*)$/s.exec(part) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  if (pairs.length > 0) return fromPairs(pairs);
  if (parts.length === 1) return { ...SILENCE, deviceName: text };
  if (!text.includes(';')) return SILENCE;
  const inOrder = IN_ORDER.map((fact, at) => [fact, parts[at]?.trim() ?? '']);
  return { ...SILENCE, ...Object.fromEntries(inOrder) };
}

function partsOf(text: string): string[] {
  const separator = [';', '&', ','].find((sign) => text.includes(sign));
  return separator === undefined ? [text] : text.split(separator, BOUNDS.valuesMax);
}

function fromObject(json: string): DeviceInfo {
  const object = readJsonObject(json, BOUNDS, 'X-Device-Info');
  return isRefused(object) ? SILENCE : fromPairs(Object.entries(object));
}

/** The first value of each fact: what is no text and no number says nothing. */
function fromPairs(pairs: readonly (readonly [string, unknown])[]): DeviceInfo {
  const info = { ...SILENCE };
  for (const [name, value] of pairs) {
    const fact = FACT_OF.get(name.toLowerCase().replace(/^\s*x-|[-_\s"']/g, ''));
    if (fact === undefined || info[fact] !== '') continue;
    if (typeof value === 'string') info[fact] = value.trim().replace(/^"(.*)"$/s, '$1');
    else if (typeof value === 'number') info[fact] = String(value);
  }
  return info;
}
