/** HWIDs on limited links: specification, "Limited links". */

import { type Static, Type } from '@sinclair/typebox';
import { linkPanelCalls } from '../../call/link-panel-calls.ts';
import { phoneCalls } from '../../call/phone-calls.ts';
import { cutOff, shortStateOf } from '../../core/cut-off.ts';
import { FIGURE_OF_REFUSAL } from '../../core/figures.ts';
import { HWID } from '../../core/formats.ts';
import { freeSlot, listPhones, listRefused, listSlots } from '../../core/link.ts';
import { NAMED_PER_CALL } from '../../core/named-hwid.ts';
import { isRefused, Refused } from '../../core/outcome.ts';
import { PHONES_MAX } from '../../core/phones.ts';
import type { AskedCut } from '../../core/port/cut-off.ts';
import type { KeptRefusal } from '../../core/port/figure.ts';
import { after } from '../../core/port/maybe.ts';
import type { PhoneState, SlotPhone } from '../../core/port/phone.ts';
import type { Slot } from '../../core/port/slot.ts';
import { REFUSED_PER_LINK } from '../../core/refused-devices.ts';
import { wireTime } from '../answer/wire-time.ts';
import { callEndpoint, optional, providerEndpoint, type Reply, required } from '../endpoint.ts';
import {
  anyText,
  CountField,
  choice,
  forms,
  HWID_EXAMPLE,
  selectorParams,
  text,
  WireTime,
} from './params.ts';
import { LIST_COUNT_MAX, replyWith } from './reply.ts';

/** States of phones. */
const STATES = ['first', 'pending', 'hint', 'certain', 'ignored'] as const satisfies PhoneState[];

/** Reasons of refusals. */
const REASONS = Object.keys(FIGURE_OF_REFUSAL);

/** A phone of a HWID in list-hwid. */
const HwidPhone = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      description: '1: the phone that came first.',
      examples: [2],
    }),
    state: choice(
      STATES,
      '`certain`: a further phone. `hint`: perhaps one. `pending`: a further one, or the first one that was replaced. `ignored`: of the same person.',
    ),
    system: text('The family of its operating system; empty if it sent none.', 'android'),
    app: text('The app; empty if it is not a known one.', 'Happ'),
    device_name: text(
      'The model, of the phone that came last alone; empty for others, whose models are not kept.',
      'Pixel 9',
    ),
    own_hwid: Type.Optional(
      text('The HWID under which it has a slot of its own (`copied_hwid=count`).', 'x~2'),
    ),
    first_seen: WireTime,
    last_seen: WireTime,
  },
  { title: 'HwidPhone' },
);

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
    named: Type.Optional(
      Type.Literal('has not come', {
        description:
          'Only with `details=1`, for a HWID that add-hwid named and that has not come: its times are when it was named.',
      }),
    ),
    phones: Type.Optional(
      Type.Array(HwidPhone, {
        maxItems: PHONES_MAX,
        description: 'Only with `details=1`: the phones that send the HWID, if there are several.',
      }),
    ),
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
    'Lists the HWIDs on a link. `date` is when the HWID took its slot, or was named for it. If both selectors are given, they must name the same link.',
  params: {
    ...selectorParams('install_code_error'),
    hwid: optional(forms.hwid, {
      misfit: 'unknown_error',
      about: 'Only this HWID.',
    }),
    details: optional(forms.flag, {
      misfit: 'unknown_error',
      about:
        'With 1 each HWID has `last_seen` too, and `phones` if several send it: an extension of the public contract.',
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
    });
    const phoneOf = (phone: SlotPhone): Static<typeof HwidPhone> => ({
      number: phone.number,
      state: phone.state,
      system: phone.family,
      app: phone.app,
      device_name: phone.model,
      ...(phone.ownHwid !== null && { own_hwid: phone.ownHwid }),
      first_seen: time(phone.firstSeenAtMs),
      last_seen: time(phone.lastSeenAtMs),
    });
    const listed = listSlots(core, provider, selector, hwid, LIST_COUNT_MAX);
    if (details !== 1) return replyWith(listed, (slots) => ({ data: slots.map(rowOf) }));
    return after(listed, (slots) => {
      if (isRefused(slots)) return slots;
      return replyWith(listPhones(core, provider, selector), (phones) => {
        const byHwid = Map.groupBy(phones, (phone) => phone.hwid);
        const detailed = (slot: Slot): Static<typeof LinkedHwid> => ({
          ...rowOf(slot),
          last_seen: time(slot.lastSeenAtMs),
          ...(slot.isNamed && { named: 'has not come' as const }),
          ...(byHwid.has(slot.hwid) && { phones: byHwid.get(slot.hwid)?.map(phoneOf) ?? [] }),
        });
        return { data: slots.map(detailed) };
      });
    });
  },
});

const addHwidEndpoint = callEndpoint(linkPanelCalls['links.name'], {
  method: 'GET',
  repeat: 'same',
  summary: 'Add HWIDs to a limited link before they come',
  description:
    'Names HWIDs for a link, all or none. From then on each counts as a device of the link, and only delete-hwid frees it: no rule of the link does. It is no device of the provider, and no message reaches it, until it comes to the link by itself. HWIDs that are on the link stay as they are, so that a call can be repeated. With `when_new=refuse` the link admits no others. An extension of the public contract.',
  params: {
    ...selectorParams('invalid_parameters'),
    hwid: required(anyText(`1 to ${NAMED_PER_CALL} HWIDs, separated by commas`), {
      misfit: 'invalid_parameters',
      about: `Up to ${NAMED_PER_CALL}, separated by commas; none with \`~\`, and none that the gate makes.`,
      example: HWID_EXAMPLE,
    }),
  },
  fields: { ok: { install_count: CountField, added: CountField } },
  says: ['ok', 'invalid_parameters', 'install_code_error', 'hwids_no_room', 'hwids_too_many'],
  given: ({ params: { hwid, install_code: installCode, install_id: installId } }) => ({
    hwids: hwid.split(','),
    ...(installCode !== null && { installCode }),
    ...(installId !== null && { installId }),
  }),
  reply: ({ addedCount, deviceCount }) => ({
    says: 'ok',
    body: { install_count: deviceCount, added: addedCount },
  }),
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
  handle(call) {
    const { core, provider, params, nowMs } = call;
    const { cut_off: cuts, install_code: installCode, install_id: installId, hwid } = params;
    if (cuts === 1) {
      if (!call.may('cuts')) return { says: 'auth_error', detail: NEEDS_CUTS };
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

const ignoreCopiesEndpoint = callEndpoint(phoneCalls['phones.ignore'], {
  method: 'GET',
  repeat: 'same',
  summary: 'Take the phones that send a HWID for those of one person',
  description:
    'For a HWID that several phones of one person send on purpose: they count as one device, are not refused, and cause no event. Slots that further phones have stay until they are freed. list-hwid with `details=1` shows the phones. An extension of the public contract.',
  params: {
    ...selectorParams('invalid_parameters'),
    hwid: required(forms.hwid, { misfit: 'invalid_parameters', example: HWID_EXAMPLE }),
  },
  fields: {
    ok: {
      ignored: Type.Boolean({
        description: 'False: there is but one phone, or all were so before.',
        examples: [true],
      }),
    },
  },
  says: ['ok', 'invalid_parameters', 'install_code_error'],
  given: ({ params: { install_code: installCode, install_id: installId, hwid } }) => ({
    installCode,
    installId,
    hwid,
  }),
  reply: (ignored) => ({ says: 'ok', body: { ignored } }),
});

export const hwidEndpoints = [
  listHwidEndpoint,
  addHwidEndpoint,
  deleteHwidEndpoint,
  listRefusedEndpoint,
  ignoreCopiesEndpoint,
];
