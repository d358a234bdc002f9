/** Cut-offs and bars: list-cuts, cancel-cut, list-bars, lift-bar, delete-hwid with `cut_off`. */

import { barHashOf } from '../../../src/core/bar.ts';
import { hashKey } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import {
  aBinding,
  aDevice,
  aLink,
  CODE,
  FOREIGN,
  type Given,
  gateScenarios,
  HWID,
  OTHER_CODE,
  OWN,
  OWN_ID,
  type Scenario,
} from './scenario.ts';

const LIST = '/api/list-cuts';
const CANCEL = '/api/cancel-cut';
const BARS = '/api/list-bars';
const LIFT = '/api/lift-bar';
const DELETE = '/api/delete-hwid';

/** A key of the provider with the scope `cuts`. */
const OF_CUTS = { ...OWN, authKey: 'cuts-key_cuts-key_cuts-key_cuts-' };

const aCutsKey: Given = async ({ clock, core: { store } }) => {
  await store.addKey(
    {
      providerId: OWN_ID,
      name: 'cuts',
      scope: 'cuts',
      countMax: 10,
      untilMs: null,
      keyHash: hashKey(OF_CUTS.authKey),
      createdAtMs: clock.nowMs(),
    },
    ACT,
  );
};

/** A cut-off of the first link that waits, with the HWID barred. */
const aCut: Given = async ({ clock, core: { store } }) => {
  const wanted = { installId: 1, hwid: HWID, keyHash: null, host: 'sub.example.org', why: null };
  const act = { ...ACT, atMs: clock.nowMs() };
  await store.askCut(OWN_ID, { ...wanted, isByUser: false }, act);
};

/** A worker makes an attempt of it. */
const anAttempt: Given = async ({ clock, core: { store } }) => {
  const nowMs = clock.nowMs();
  const lease = { owner: 'one', nowMs, leaseUntilMs: nowMs + 60_000, perHourMax: 20 };
  await store.claimCut('sub.example.org', lease);
};

const given = [aLink(), aCutsKey, aCut];
const HASH = barHashOf(HWID);
const MAIN_KEY = "auth_key is for 'main': this call needs one for 'cuts'";

/** The answers to the main key, and to the provider without a subscription. */
const gates = (
  path: string,
  request: Scenario['request'],
  method: 'cancelCut' | 'liftBars',
): Scenario[] => [
  ...gateScenarios(path, request, given, method).map(
    (scenario): Scenario =>
      scenario.says === 'auth_error' ? scenario : { ...scenario, credentials: OF_CUTS },
  ),
  {
    name: 'the main key',
    path,
    says: 'auth_error',
    given,
    request,
    answer: '{"rc":0,"msg":"Auth error"}',
    detail: MAIN_KEY,
  },
];

const ROW = `{"id":1,"install_id":1,"state":"waiting","why":null,"barred":"${HASH}","by_user":false,"asked_at":"2026-11-20T12:00:00.000Z","ended_at":null,"devices":0,"to_fetch":0,"fetch_until":null}`;

const listCuts: Scenario[] = [
  ...gateScenarios(LIST, {}, [], 'listCuts'),
  {
    name: 'one that waits',
    path: LIST,
    says: 'ok',
    given,
    request: { waiting: 1, install_id: 1 },
    answer: `{"rc":1,"msg":"Ok","data":[${ROW}]}`,
  },
  {
    name: 'none below an id, and none of another provider',
    path: LIST,
    says: 'ok',
    given,
    request: { before_id: 1 },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'another provider',
    path: LIST,
    says: 'ok',
    given,
    credentials: FOREIGN,
    request: { install_id: 1 },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'a malformed id',
    path: LIST,
    says: 'invalid_parameters',
    request: { before_id: 'x' },
    answer: '{"rc":0,"msg":"Invalid parameters"}',
    detail: 'before_id must be a whole number of 1 to 15 digits',
  },
];

const cancelCut: Scenario[] = [
  ...gates(CANCEL, { id: 1 }, 'cancelCut'),
  {
    name: 'one that waits',
    path: CANCEL,
    says: 'ok',
    given,
    credentials: OF_CUTS,
    request: { id: 1 },
    answer: '{"rc":1,"msg":"Ok"}',
    changed: [
      'cut_off 1 ended_at_ms: null -> 1795176000000',
      'cut_off 1 state: "waiting" -> "cancelled"',
      'install 1 awaits_fetch: 1 -> 0',
    ],
  },
  {
    name: 'none with this id',
    path: CANCEL,
    says: 'cut_not_found',
    given,
    credentials: OF_CUTS,
    request: { id: 2 },
    answer: '{"rc":0,"msg":"Cut-off not found"}',
    detail: 'no cut-off with this id waits',
  },
  {
    name: 'an attempt in progress',
    path: CANCEL,
    says: 'cut_running',
    given: [...given, anAttempt],
    credentials: OF_CUTS,
    request: { id: 1 },
    answer: '{"rc":0,"msg":"Cut-off is being made"}',
    detail: 'an attempt is being made: try again in a minute',
  },
];

const listBars: Scenario[] = [
  ...gateScenarios(BARS, { install_id: 1 }, [aLink()], 'listBars'),
  {
    name: 'a HWID that was cut off',
    path: BARS,
    says: 'ok',
    given,
    request: { install_id: 1 },
    answer: `{"rc":1,"msg":"Ok","data":[{"hwid_sha256":"${HASH}","since":"2026-11-20T12:00:00.000Z","until":"2027-02-18T12:00:00.000Z"}]}`,
  },
  {
    name: 'a foreign link',
    path: BARS,
    says: 'install_not_found',
    given: [aLink(OTHER_CODE, 2, FOREIGN)],
    request: { install_id: 1 },
    answer: '{"rc":0,"msg":"Install not found"}',
    detail: 'id names no limited link of this provider',
  },
];

const WITHOUT_BAR = ['install 1 has_bars: 1 -> 0', 'slot_bar 1 removed'];

const liftBar: Scenario[] = [
  ...gates(LIFT, { install_id: 1, hwid: HWID }, 'liftBars'),
  {
    name: 'by the HWID in another spelling',
    path: LIFT,
    says: 'ok',
    given,
    credentials: OF_CUTS,
    request: { install_id: 1, hwid: HWID.toUpperCase() },
    answer: '{"rc":1,"msg":"Ok","lifted":1}',
    changed: WITHOUT_BAR,
  },
  {
    name: 'by its hash',
    path: LIFT,
    says: 'ok',
    given,
    credentials: OF_CUTS,
    request: { install_id: 1, hwid_sha256: HASH },
    answer: '{"rc":1,"msg":"Ok","lifted":1}',
    changed: WITHOUT_BAR,
  },
  {
    name: 'neither',
    path: LIFT,
    says: 'invalid_parameters',
    given,
    credentials: OF_CUTS,
    request: { install_id: 1 },
    answer: '{"rc":0,"msg":"Invalid parameters"}',
    detail: 'give hwid or hwid_sha256',
  },
  {
    name: 'a foreign link',
    path: LIFT,
    says: 'install_not_found',
    given: [aCutsKey, aLink(OTHER_CODE, 2, FOREIGN)],
    credentials: OF_CUTS,
    request: { install_id: 1, hwid: HWID },
    answer: '{"rc":0,"msg":"Install not found"}',
    detail: 'id names no limited link of this provider',
  },
];

const device = [aLink(), aBinding(), aDevice(), aCutsKey];

const deleteHwid: Scenario[] = [
  {
    name: 'with cut_off: a link that no panel can cut off is freed and barred',
    path: DELETE,
    says: 'ok',
    given: device,
    credentials: OF_CUTS,
    request: { install_code: CODE, hwid: HWID, cut_off: 1 },
    answer: '{"rc":1,"msg":"Ok","install_count":0}',
    answerHeaders: { 'x-cut-off': 'impossible' },
    changed: [
      'cut_off 1 added',
      'device_provider 1/1 slot_count: 1 -> 0',
      'install 1 device_count: 1 -> 0',
      'install 1 has_bars: 0 -> 1',
      'install_device 1 removed',
      'provider 1 slot_end_count: 0 -> 1',
      'slot_bar 1 added',
      'slot_end 1 added',
    ],
  },
  {
    name: 'with cut_off and the main key',
    path: DELETE,
    says: 'auth_error',
    given: device,
    request: { install_code: CODE, hwid: HWID, cut_off: 1 },
    answer: '{"rc":0,"msg":"Auth error"}',
    detail: "auth_key may not cut off: cut_off=1 needs a key for 'cuts'",
  },
  {
    name: 'with a malformed cut_off',
    path: DELETE,
    says: 'invalid_parameters',
    given: device,
    request: { install_code: CODE, hwid: HWID, cut_off: 2 },
    answer: '{"rc":0,"msg":"Invalid parameters"}',
    detail: 'cut_off must be 0 or 1',
  },
];

export const cutOffScenarios: readonly Scenario[] = [
  ...listCuts,
  ...cancelCut,
  ...listBars,
  ...liftBar,
  ...deleteHwid,
];
