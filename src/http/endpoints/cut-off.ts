/** Cut-offs and bars: extensions of the public contract. */

import { type Static, Type } from '@sinclair/typebox';
import { CUTS_PAGE, cutCalls } from '../../call/cut-calls.ts';
import { BAR_MS, BARS_MAX } from '../../core/bar.ts';
import { DAY_MS, isoTime } from '../../core/calendar.ts';
import { counted } from '../../core/counted.ts';
import { DOMAIN_HASH } from '../../core/formats.ts';
import { CUT_STATES, type Cut } from '../../core/port/cut-off.ts';
import { callEndpoint, optional, required } from '../endpoint.ts';
import { choice, forms, HASH_EXAMPLE, HWID_EXAMPLE, RecordId, text } from './params.ts';
import { invalid } from './reply.ts';
import { nullable } from './webhook-bodies.ts';

const TIME_EXAMPLE = '2026-11-22T08:00:00.000Z';
const OWN_SCOPE =
  'Needs a key with the scope `cuts`: `auth_key`, which a bot has, does not open it. An extension of the public contract.';

/** A cut-off in list-cuts. */
const CutRow = Type.Object(
  {
    id: RecordId,
    install_id: Type.Integer({ description: 'The link.', examples: [1] }),
    state: choice(
      CUT_STATES,
      '`done`: the panel was read back with new credentials; `changed`: they were new already; `waiting`: it is tried again; `impossible`, `differs` (another field changed too), `ended` (it failed for a day), `cancelled`: no new credentials are certain.',
    ),
    why: nullable(Type.String(), 'Why it waits, or did not succeed.'),
    barred: nullable(Type.String(), 'SHA-256 of the HWID that was barred with it.'),
    by_user: Type.Boolean({
      description: 'True: the user of the link asked for it.',
      examples: [false],
    }),
    asked_at: text('In UTC.', TIME_EXAMPLE),
    ended_at: nullable(Type.String(), 'In UTC; null: it waits.'),
    devices: Type.Integer({
      minimum: 0,
      description: 'Devices that had to fetch again when it was done.',
      examples: [2],
    }),
    to_fetch: Type.Integer({
      minimum: 0,
      description: 'Those of them that have not fetched since.',
      examples: [1],
    }),
    fetch_until: nullable(Type.String(), 'The time until which apps fetch by themselves, in UTC.'),
  },
  { title: 'CutOff' },
);

const cutRow = (cut: Cut): Static<typeof CutRow> => ({
  id: cut.id,
  install_id: cut.installId,
  state: cut.state,
  why: cut.why,
  barred: cut.hwidHash,
  by_user: cut.isByUser,
  asked_at: isoTime(cut.askedAtMs) ?? '',
  ended_at: isoTime(cut.endedAtMs),
  devices: cut.fetchUntilMs === null ? 0 : cut.deviceCount,
  to_fetch: cut.waitingCount,
  fetch_until: isoTime(cut.fetchUntilMs),
});

const linkParam = required(forms.id, { misfit: 'install_not_found', example: 1 });

const listCutsEndpoint = callEndpoint(cutCalls['cuts.list'], {
  method: 'GET',
  repeat: 'reads',
  summary: 'List cut-offs of limited links, the newest first',
  description: `Lists up to ${CUTS_PAGE} cut-offs: changes of a customer's credentials at the panel, asked for with \`cut_off=1\` of delete-hwid, in the console or on the page of users. Those that ended are kept for 90 days. An extension of the public contract.`,
  params: {
    install_id: optional(forms.id, { misfit: 'invalid_parameters', about: 'Only of this link.' }),
    waiting: optional(forms.flag, {
      misfit: 'invalid_parameters',
      about: '1: only those that wait.',
    }),
    before_id: optional(forms.id, {
      misfit: 'invalid_parameters',
      about: 'Only cut-offs with a lower `id`: continues a list.',
    }),
  },
  fields: { ok: { data: Type.Array(CutRow, { maxItems: CUTS_PAGE }) } },
  says: ['ok', 'invalid_parameters'],
  given: ({ params: { before_id: beforeId, install_id: linkId, waiting } }) => ({
    isWaiting: waiting === 1,
    ...(linkId !== null && { linkId }),
    ...(beforeId !== null && { beforeId }),
  }),
  reply: (cuts) => ({ says: 'ok', body: { data: cuts.map(cutRow) } }),
});

const cancelCutEndpoint = callEndpoint(cutCalls['cuts.cancel'], {
  method: 'GET',
  repeat: 'noted',
  summary: 'Cancel a cut-off that waits',
  description: `The device stays freed and barred. ${OWN_SCOPE}`,
  params: { id: required(forms.id, { misfit: 'cut_not_found', example: 1 }) },
  says: ['ok', 'cut_not_found', 'cut_running'],
  given: ({ params: { id } }) => ({ id }),
  reply: () => ({ says: 'ok' }),
});

/** A bar in list-bars. */
const BarRow = Type.Object(
  {
    hwid_sha256: text('SHA-256 of the HWID in its plain spelling.', HASH_EXAMPLE),
    since: text('In UTC.', TIME_EXAMPLE),
    until: text('In UTC.', TIME_EXAMPLE),
  },
  { title: 'Bar' },
);

const listBarsEndpoint = callEndpoint(cutCalls['bars.list'], {
  method: 'GET',
  repeat: 'reads',
  summary: 'List the HWIDs that are barred on a limited link, the newest first',
  description: `A HWID that was freed with a cut-off is refused on that link in any spelling: ${counted(BAR_MS / DAY_MS, 'day')}. A link has ${BARS_MAX} bars at most; the oldest ends first. An extension of the public contract.`,
  params: { install_id: linkParam },
  fields: { ok: { data: Type.Array(BarRow, { maxItems: BARS_MAX }) } },
  says: ['ok', 'install_not_found'],
  given: ({ params: { install_id: linkId } }) => ({ linkId }),
  reply: (bars) => ({
    says: 'ok',
    body: {
      data: bars.map(
        ({ hwidHash, madeAtMs, untilMs }): Static<typeof BarRow> => ({
          hwid_sha256: hwidHash,
          since: isoTime(madeAtMs) ?? '',
          until: isoTime(untilMs) ?? '',
        }),
      ),
    },
  }),
});

const liftBarEndpoint = callEndpoint(cutCalls['bars.lift'], {
  method: 'GET',
  repeat: 'noted',
  summary: 'Let a HWID that was cut off in again',
  description: `Give the HWID, or the hash that list-bars shows. ${OWN_SCOPE}`,
  params: {
    install_id: linkParam,
    hwid: optional(forms.hwid, { misfit: 'invalid_parameters', example: HWID_EXAMPLE }),
    hwid_sha256: optional(
      { schema: Type.RegExp(DOMAIN_HASH.pattern), rule: DOMAIN_HASH.rule },
      { misfit: 'invalid_parameters' },
    ),
  },
  fields: {
    ok: {
      lifted: Type.Integer({ minimum: 0, description: 'Bars that ended.', examples: [1] }),
    },
  },
  says: ['ok', 'install_not_found', 'invalid_parameters'],
  given: ({ params: { hwid, hwid_sha256: hwidHash, install_id: linkId } }) => {
    if ((hwid === null) === (hwidHash === null)) return invalid('give hwid or hwid_sha256');
    return { linkId, ...(hwid === null ? { hwidHash: hwidHash ?? '' } : { hwid }) };
  },
  reply: ({ liftedCount }) => ({ says: 'ok', body: { lifted: liftedCount } }),
});

export const cutOffEndpoints = [
  listCutsEndpoint,
  cancelCutEndpoint,
  listBarsEndpoint,
  liftBarEndpoint,
];
