/** Ties of keys to links: list-ties, tie-keys, untie-keys and set-keys. */

import { hashKey, subscriptionKeyHash } from '../../../src/core/secret.ts';
import { ACT } from '../../support/actor.ts';
import {
  aLink,
  CODE,
  type Given,
  gateScenarios,
  OTHER_CODE,
  OWN,
  OWN_ID,
  type Scenario,
} from './scenario.ts';

const LIST = '/api/list-ties';
const TIE = '/api/tie-keys';
const UNTIE = '/api/untie-keys';
const SET = '/api/set-keys';

/** A key of the provider with the scope `ties`. */
const OF_TIES = { ...OWN, authKey: 'ties-key_ties-key_ties-key_ties-' };
const KEY = 'a1b2c3d4e5f6g7h8';

const aTiesKey: Given = async ({ clock, core: { store } }) => {
  await store.addKey(
    {
      providerId: OWN_ID,
      name: 'ties',
      scope: 'ties',
      countMax: 10,
      untilMs: null,
      keyHash: hashKey(OF_TIES.authKey),
      createdAtMs: clock.nowMs(),
    },
    ACT,
  );
};

/** A fetch of the key with the code of the first link, while ties are off. */
const aWaitingTie: Given = async ({ core: { store } }) => {
  await store.switchTies(OWN_ID, false, ACT);
  const fetch = { providerId: OWN_ID, keyHash: subscriptionKeyHash(KEY) };
  await store.tieByFetch({ ...fetch, installCode: CODE, hwid: 'phone' }, ACT);
};

const aMadeTie: Given = async ({ core: { store } }) => {
  await store.agreeTie(OWN_ID, 1, ACT);
};

const waiting = [aLink(), aTiesKey, aWaitingTie];
const MAIN_KEY = "auth_key is for 'main': this call needs one for 'ties'";

/** The answers to keys without the scope, and to the provider without a subscription. */
const gates = (path: string, method: 'agreeTie' | 'undoTie' | 'giveKey', body: unknown) => [
  ...gateScenarios(path, {}, waiting, method, body).map(
    (scenario): Scenario =>
      scenario.says === 'auth_error' ? scenario : { ...scenario, credentials: OF_TIES },
  ),
  {
    name: 'the main key',
    path,
    says: 'auth_error',
    given: waiting,
    request: {},
    body,
    answer: '{"rc":0,"msg":"Auth error"}',
    detail: MAIN_KEY,
  } satisfies Scenario,
];

const IDS = 'ids must be a list of 1 to 100 ids';
const LINKS = 'links must be a list of 1 to 100 objects with install_code and subscription_key';

const misfits = (path: string, detail: string, bodies: readonly object[]) =>
  bodies.map(
    (body): Scenario => ({
      name: `a body ${JSON.stringify(body).slice(0, 60)}`,
      path,
      says: 'invalid_parameters',
      given: [aTiesKey],
      credentials: OF_TIES,
      request: {},
      body,
      answer: '{"rc":0,"msg":"Invalid parameters"}',
      detail,
    }),
  );

const listTies: Scenario[] = [
  ...gateScenarios(LIST, {}, [], 'listTies'),
  {
    name: 'a tie that waits, while ties by fetches are off',
    path: LIST,
    says: 'ok',
    given: waiting,
    request: {},
    answer:
      '{"rc":1,"msg":"Ok","ties":"off","data":[{"id":1,"install_id":1,"former_id":null,"moved":0,"left_out":0,"at":"2026-11-20T12:00:00.000Z"}]}',
  },
  {
    name: 'none beyond an id',
    path: LIST,
    says: 'ok',
    given: waiting,
    request: { state: 'waits', after_id: 1 },
    answer: '{"rc":1,"msg":"Ok","ties":"off","data":[]}',
  },
  {
    name: 'an unknown state',
    path: LIST,
    says: 'invalid_parameters',
    request: { state: 'open' },
    answer: '{"rc":0,"msg":"Invalid parameters"}',
    detail: 'state must be one of waits, tied, undone',
  },
];

const tieKeys: Scenario[] = [
  ...gates(TIE, 'agreeTie', { ids: [1] }),
  ...misfits(TIE, IDS, [{}, { ids: [] }, { ids: ['x'] }, { ids: 1 }]),
  {
    name: 'a tie that waits, and one that does not exist',
    path: TIE,
    says: 'ok',
    given: waiting,
    credentials: OF_TIES,
    request: {},
    body: { ids: [1, 9] },
    answer:
      '{"rc":1,"msg":"Ok","data":[{"id":1,"done":"tied","moved":0,"left_out":0},{"id":9,"done":"no","why":"tie_not_found"}]}',
    changed: [
      'install 1 subscription_key_hash: null -> 32 bytes',
      'link_tie 1 state: "waits" -> "tied"',
    ],
  },
];

const untieKeys: Scenario[] = [
  ...gates(UNTIE, 'undoTie', { ids: [1] }),
  ...misfits(UNTIE, IDS, [{ ids: [{}] }]),
  {
    name: 'a tie that was made',
    path: UNTIE,
    says: 'ok',
    given: [...waiting, aMadeTie],
    credentials: OF_TIES,
    request: {},
    body: { ids: [1] },
    answer: '{"rc":1,"msg":"Ok","data":[{"id":1,"done":"undone"}]}',
    changed: [
      'install 1 subscription_key_hash: 32 bytes -> null',
      'link_tie 1 state: "tied" -> "undone"',
    ],
  },
];

const setKeys: Scenario[] = [
  ...gates(SET, 'giveKey', { links: [{ install_code: CODE, subscription_key: KEY }] }),
  ...misfits(SET, LINKS, [
    {},
    { links: [] },
    { links: ['x'] },
    { links: [{ install_code: 'x', subscription_key: KEY }] },
    { links: [{ install_code: CODE, subscription_key: '' }] },
  ]),
  {
    name: 'a link gets the key, another one has none of it',
    path: SET,
    says: 'ok',
    given: [aLink(), aLink(OTHER_CODE), aTiesKey],
    credentials: OF_TIES,
    request: {},
    body: {
      links: [CODE, OTHER_CODE, 'NoSuchLink01'].map((install_code) => ({
        install_code,
        subscription_key: KEY,
      })),
    },
    answer: `{"rc":1,"msg":"Ok","data":[{"install_code":"${CODE}","done":"given"},{"install_code":"${OTHER_CODE}","done":"no","why":"subscription_key_exists"},{"install_code":"NoSuchLink01","done":"no","why":"install_not_found"}]}`,
    changed: ['install 1 subscription_key_hash: null -> 32 bytes'],
  },
];

export const tieScenarios: readonly Scenario[] = [
  ...listTies,
  ...tieKeys,
  ...untieKeys,
  ...setKeys,
];
