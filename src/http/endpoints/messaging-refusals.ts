/** Refusals of the messaging protocol that help, and ends of which devices are notified. */

import { Type } from '@sinclair/typebox';
import type { Core } from '../../core/core.ts';
import { helpAtFullLink } from '../../core/message/registration-help.ts';
import type { Refused } from '../../core/outcome.ts';
import { END_WORDS } from '../../core/port/ended.ts';
import type { Reply, WireSettings } from '../endpoint.ts';
import { hasText, textIn } from '../gate/texts.ts';
import type { MessageKey } from '../messages.ts';
import { choice, LimitField, WireTime } from './params.ts';

/** The end of a slot or link, as its device learns it. */
const ENDED = {
  reason: choice(
    END_WORDS,
    '`slot_freed`: the slot of the device was freed. `link_ended`: its link was removed. `link_disabled`: it is disabled. `link_replaced`: it has another code.',
  ),
  at: WireTime,
  text: Type.String({
    description: 'The same for people, in a language of `Accept-Language`.',
    examples: [textIn({ gateTexts: {}, gateLanguage: 'en' }, 'slot_freed', []).text],
  }),
};
export const Ended = Type.Object(ENDED, { title: 'Ended' });

/** The fields of the refusal of a token. */
export const REFUSED_TOKEN = {
  reason: Type.Optional({
    ...ENDED.reason,
    description: 'Only for a token that ended with the slot of its last place, for 24 hours.',
  }),
  at: Type.Optional(ENDED.at),
  text: Type.Optional(ENDED.text),
};

/** The fields of a registration's refusal at its link. */
export const REFUSED_AT_LINK = {
  reason: Type.String({ description: 'The reason in one word.', examples: ['link_limit_reached'] }),
  text: Type.String({
    description: 'The same for people, in a language of `Accept-Language`.',
    examples: [textIn({ gateTexts: {}, gateLanguage: 'en' }, 'link_limit_reached', []).text],
  }),
};

export const REFUSED_AT_FULL_LINK = {
  ...REFUSED_AT_LINK,
  limit: Type.Optional(LimitField),
  free_url: Type.Optional(
    Type.String({
      format: 'uri',
      description: 'The page where the user frees a slot, if the provider has switched it on.',
      examples: ['https://sub.example.com/my?link=ANNA00000001'],
    }),
  ),
};

/** Details of refusals of a registration: the calls of apps have other names for its fields. */
export const REGISTER_DETAILS = {
  link_not_found:
    'install_code names no limited link, or domain_hash is not actively bound to its provider',
  provider_not_found: 'provider_code names no provider',
};

/** Refuses a registration; a refusal at its link has the reason and how to free a slot. */
export async function refusedAtLink<K extends MessageKey>(
  {
    core,
    nowMs,
    settings,
    languages,
  }: { core: Core; nowMs: number; settings: WireSettings; languages: readonly string[] },
  registration: Parameters<typeof helpAtFullLink>[1],
  refused: Refused<K>,
): Promise<Refused<K> | Reply<K>> {
  const { says, reason } = refused;
  if (says === 'hwid_required' || !hasText(says)) return refused;
  // The page of a link frees no barred HWID.
  const isFull = says === 'link_limit_reached' && reason !== 'barred';
  const help = isFull ? await helpAtFullLink(core, registration, nowMs) : null;
  const freeUrl = help?.freeUrl ?? null;
  const { text } = textIn(settings, says, languages, freeUrl);
  const body = {
    reason: says,
    text,
    ...(help && { limit: help.limit }),
    ...(freeUrl !== null && { free_url: freeUrl }),
  };
  const detail = says === 'link_not_found' ? REGISTER_DETAILS[says] : refused.detail;
  return { says, body, detail, reason };
}
