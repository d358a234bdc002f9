/** HWIDs on limited links: specification, "Limited links". */

import { type Static, Type } from '@sinclair/typebox';
import { opens } from '../../core/account/keys.ts';
import { cutOff, shortStateOf } from '../../core/cut-off.ts';
import { FIGURE_OF_REFUSAL } from '../../core/figures.ts';
import { HWID } from '../../core/formats.ts';
import { freeSlot, listRefused, listSlots } from '../../core/link.ts';
import { isRefused, Refused } from '../../core/outcome.ts';
import type { AskedCut } from '../../core/port/cut-off.ts';
import type { KeptRefusal } from '../../core/port/figure.ts';
import type { Slot } from '../../core/port/slot.ts';
import { REFUSED_PER_LINK } from '../../core/refused-devices.ts';
import { wireTime } from '../answer/wire-time.ts';
import { optional, providerEndpoint, type Reply, required } from '../endpoint.ts';
import {
  CountField,
  choice,
  forms,
  HWID_EXAMPLE,
  selectorParams,
  text,
  WireTime,
} from './params.ts';
import { LIST_COUNT_MAX, replyWith } from './reply.ts';

/** Reasons of refusals. */
const REASONS = Object.keys(FIGURE_OF_REFUSAL);

/** A device on a link in list-hwid. */
const LinkedHwid = Type.Object(
  {
    hwid: Type.RegExp(HWID.pattern, { examples: [HWID_EXAMPLE] }),
    date: WireTime,
    device_name: Type.String({
      description: 'The model as the app sent it; empty if it sent none.',
      examples: ['Pixel 9'],
    }),
    last_seen: Type.Optional({
      ...WireTime,
      description: 'Only with `details=1`: when the device was last seen, noted once a UTC day.',
    }),
  },
  {
    title: 'LinkedHwid',
    examples: [{ hwid: HWID_EXAMPLE, date: WireTime.examples[0], device_name: 'Pixel 9' }],
  },
);

const listHwidEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/list-hwid',
  repeat: 'reads',
  needs: 'read',
  summary: 'List the HWIDs of a limited link, latest registration first',
  description:
    'Lists the HWIDs on a link. `date` is when the HWID took its slot. If both selectors are given, they must name the same link.',
  params: {
    ...selectorParams('install_code_error'),
    hwid: optional(forms.hwid, {
      misfit: 'unknown_error',
      about: 'Only this HWID.',
    }),
    details: optional(forms.flag, {
      misfit: 'unknown_error',
      about: 'With 1 each HWID has `last_seen` too: an extension of the public contract.',
    }),
  },
  fields: { ok: { data: Type.Array(LinkedHwid, { maxItems: LIST_COUNT_MAX }) } },
  says: ['ok', 'install_code_error', 'unknown_error'],
  handle({ core, provider, params, settings }) {
    const { install_code: installCode, install_id: installId, hwid, details } = params;
    const selector = { installCode, installId };
    const time = (atMs: number) => wireTime(atMs, settings.outputOffsetMinutes);
    const rowOf = (slot: Slot): Static<typeof LinkedHwid> => ({
      hwid: slot.hwid,
      date: time(slot.registeredAtMs),
      device_name: slot.deviceName,
      ...(details === 1 && { last_seen: time(slot.lastSeenAtMs) }),
    });
    const listed = listSlots(core, provider, selector, hwid, LIST_COUNT_MAX);
    return replyWith(listed, (slots) => ({ data: slots.map(rowOf) }));
  },
});

const NEEDS_CUTS = "auth_key may not cut off: cut_off=1 needs a key for 'cuts'";

/** The body is that of a call without `cut_off`. */
const cutReply = ({ cut, deviceCount }: AskedCut): Reply<'ok'> => ({
  says: 'ok',
  body: { install_count: deviceCount },
  headers: { 'x-cut-off': shortStateOf(cut) },
});

const deleteHwidEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/delete-hwid',
  repeat: 'same',
  needs: 'links',
  summary: 'Delete a HWID from a limited link',
  description:
    'Frees the slot of a HWID on a link. For a HWID that is not on the link it succeeds with the unchanged count, so that a call can be repeated.',
  params: {
    ...selectorParams('invalid_parameters'),
    hwid: required(forms.hwid, { misfit: 'invalid_parameters', example: HWID_EXAMPLE }),
    cut_off: optional(forms.flag, {
      misfit: 'invalid_parameters',
      about:
        '1: bars the HWID on the link, and has the panel change the credentials of the customer, so that copied servers stop. Needs a key with the scope `cuts`: an extension of the public contract.',
    }),
  },
  fields: { ok: { install_count: CountField } },
  answerHeaders: {
    'x-cut-off': {
      about:
        'With `cut_off=1` the state of the cut-off: `waiting`, `done` or `impossible`. list-cuts has the reason.',
      example: 'waiting',
    },
  },
  says: ['ok', 'invalid_parameters', 'install_code_error', 'auth_error'],
  handle({ core, provider, params, nowMs, scope }) {
    const { cut_off: cuts, install_code: installCode, install_id: installId, hwid } = params;
    if (cuts === 1) {
      if (!opens(scope, 'cuts')) return { says: 'auth_error', detail: NEEDS_CUTS };
      const asked = cutOff(core, provider, { installCode, installId }, hwid, nowMs);
      return asked.then((done) => {
        if (!isRefused(done)) return cutReply(done);
        return done.says === 'cut_save_error'
          ? new Refused('malformed', { detail: done.detail ?? 'the change could not be saved' })
          : new Refused(done.says);
      });
    }
    const freed = freeSlot(core, provider, { installCode, installId }, hwid, nowMs);
    return replyWith(freed, ({ deviceCount }) => ({ install_count: deviceCount }));
  },
});

/** A device in list-refused. */
const RefusedHwid = Type.Object(
  {
    hwid: text('As the app sent it; empty if it sent none.', HWID_EXAMPLE),
    device_name: text('The model as the app sent it; empty if it sent none.', 'Pixel 9'),
    os: text('As the app sent it; empty if it sent none.', 'android'),
    reason: choice<string>(REASONS, 'Of the last refusal.'),
    count: Type.Integer({ minimum: 1, description: 'How often it was refused.', examples: [2] }),
    first_refused: WireTime,
    last_refused: WireTime,
    former_hwid: Type.Optional(
      text('The HWID that it seems to have had, if the policy `same_phone` asks.', HWID_EXAMPLE),
    ),
  },
  { title: 'RefusedHwid' },
);

const listRefusedEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/list-refused',
  repeat: 'reads',
  needs: 'read',
  summary: 'List the devices that a limited link refused, the latest first',
  description: `Lists the last ${REFUSED_PER_LINK} devices that a link refused in the last 90 days, up to ten seconds late. Texts are cut to 64 characters. An extension of the public contract.`,
  params: selectorParams('install_code_error'),
  fields: { ok: { data: Type.Array(RefusedHwid, { maxItems: REFUSED_PER_LINK }) } },
  says: ['ok', 'install_code_error'],
  handle({ core, provider, params, settings }) {
    const { install_code: installCode, install_id: installId } = params;
    const time = (atMs: number) => wireTime(atMs, settings.outputOffsetMinutes);
    const rowOf = (refusal: KeptRefusal): Static<typeof RefusedHwid> => ({
      hwid: refusal.hwid,
      device_name: refusal.deviceName,
      os: refusal.os,
      reason: refusal.reason,
      count: refusal.count,
      first_refused: time(refusal.firstAtMs),
      last_refused: time(refusal.lastAtMs),
      ...(refusal.formerHwid !== undefined && { former_hwid: refusal.formerHwid }),
    });
    const listed = listRefused(core, provider, { installCode, installId });
    return replyWith(listed, (refused) => ({ data: refused.map(rowOf) }));
  },
});

export const hwidEndpoints = [listHwidEndpoint, deleteHwidEndpoint, listRefusedEndpoint];
