/** Reads the JSON of devices: registrations and acknowledgements. */

import { factsOf, REGISTERED_FACTS } from '../device-facts.ts';
import { snakeCase } from '../field.ts';
import { readOwnHwid } from '../formats.ts';
import { isAbsent, isRecord, isText, readInteger } from '../json-input.ts';
import { isRefused, type Misfit, malformed, Refused } from '../outcome.ts';
import { ACK_STATES, type AckItem } from '../port/inbox.ts';
import type { Reach } from '../port/reach.ts';
import { tidyFact } from '../text.ts';
import { ACK_COUNT_MAX } from './inbox.ts';
import { readPush } from './push-address.ts';
import type { Registration } from './registration.ts';

const ACK_DETAIL_LENGTH_MAX = 255;
/** A language tag of BCP 47. */
export const LOCALE = /^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8}){0,4}$/;

/** Fields of a registration that are plain text, without its HWID. */
const TEXT_FIELDS = [
  ...REGISTERED_FACTS.map(snakeCase),
  'locale',
  'provider_code',
  'domain_hash',
  'install_code',
];

/**
 * Reads the body of `POST /device/register`, without the formats of codes. `reach` decides which
 * push services may be called. Refuses `hwid_required` for a missing or malformed HWID before all
 * other misfits, and `malformed`.
 */
export function readRegistration(
  body: Readonly<Record<string, unknown>>,
  reach: Reach,
): Omit<Registration, 'token'> | Refused<'hwid_required'> | Misfit {
  const hwid = readOwnHwid(body['hwid']);
  if (isRefused(hwid)) return new Refused('hwid_required');
  const text: Record<string, string | undefined> = {};
  for (const name of TEXT_FIELDS) {
    const value = body[name];
    if (isAbsent(value)) continue;
    if (!isText(value)) return malformed(`${name} must be a string`);
    text[name] = value;
  }
  if (text['locale'] !== undefined && !LOCALE.test(text['locale'])) {
    return malformed('locale must be a language tag such as en or pt-BR');
  }
  const push = readPush(body['push'], reach);
  if (isRefused(push)) return push;
  return {
    hwid,
    facts: factsOf((fact) => text[snakeCase(fact)] ?? ''),
    locale: text['locale'] ?? null,
    push,
    installCode: text['install_code'] ?? null,
    domainHash: text['domain_hash'] ?? null,
    providerCode: text['provider_code'] ?? null,
  };
}

/** Reads the `items` of an acknowledgement. Refuses `malformed` if one is. */
export function readAckItems(value: unknown): AckItem[] | Misfit {
  if (!Array.isArray(value) || value.length === 0 || value.length > ACK_COUNT_MAX) {
    return malformed(`items must be a list of 1 to ${ACK_COUNT_MAX} acknowledgements`);
  }
  const items: AckItem[] = [];
  for (const item of value as unknown[]) {
    const id = isRecord(item) ? readInteger(item['id']) : null;
    if (!isRecord(item) || id === null) return malformed('each item must have the id of a message');
    const state = ACK_STATES.find((known) => known === item['state']);
    if (state === undefined) {
      return malformed(`the state of an item must be ${ACK_STATES.join(', ')}`);
    }
    const detail = item['detail'];
    items.push({
      id,
      state,
      detail: typeof detail === 'string' ? tidyFact(detail, ACK_DETAIL_LENGTH_MAX) : null,
    });
  }
  return items;
}
