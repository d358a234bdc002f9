/** Ties of subscription keys to limited links: extensions of the public contract. */

import { type Static, Type } from '@sinclair/typebox';
import { keyCalls, TIES_MAX, TIES_PAGE, tieCalls } from '../../call/tie-calls.ts';
import { INSTALL_CODE, RECORD_ID, readInstallCode } from '../../core/formats.ts';
import { isRecord } from '../../core/json-input.ts';
import { type SettledTie, TIE_DAYS, TIE_FAILURES, TIES_PER_HOUR_MAX } from '../../core/link-tie.ts';
import { isRefused, Refused } from '../../core/outcome.ts';
import { TIE_STATES } from '../../core/port/link-tie.ts';
import { readSubscriptionKey, SUBSCRIPTION_KEY_LENGTH_MAX } from '../../core/subscription-key.ts';
import { callEndpoint, optional } from '../endpoint.ts';
import { CODE_EXAMPLE, choice, forms, oneOf, RecordId, text } from './params.ts';
import { nullable } from './webhook-bodies.ts';

const MOVED = 'Devices that moved to the link of the code, or would.';
const LEFT = 'Devices for which it has no slot, and who lose, or lost, theirs.';
const counted = (description: string) => Type.Integer({ minimum: 0, description, examples: [0] });

/** A tie in list-ties. */
const TieRow = Type.Object(
  {
    id: RecordId,
    install_id: Type.Integer({ description: 'The link of the code.', examples: [1] }),
    former_id: nullable(
      Type.Integer(),
      'The link that has the key, or had it until the tie; null: none.',
    ),
    moved: counted(MOVED),
    left_out: counted(LEFT),
    at: text(
      'When a fetch last asked for it, to a day, or when it was made, in UTC.',
      '2026-11-22T08:00:00.000Z',
    ),
  },
  { title: 'Tie' },
);

const listTiesEndpoint = callEndpoint(tieCalls['ties.list'], {
  method: 'GET',
  repeat: 'reads',
  summary: 'List the keys of subscriptions that wait for a link, or were tied to one',
  description: `A fetch of a subscription with the code of a link (\`installid\`) may tie the key to that link; what it may not waits for the provider: tie-keys. Ties can be undone for ${TIE_DAYS} days. Lists up to ${TIES_PAGE}, oldest first. An extension of the public contract.`,
  params: {
    state: optional(oneOf(TIE_STATES), {
      misfit: 'invalid_parameters',
      about: '`waits` if it is absent.',
    }),
    after_id: optional(forms.id, {
      misfit: 'invalid_parameters',
      about: 'Only ties with a higher `id`: continues a list.',
    }),
  },
  fields: {
    ok: {
      ties: choice(['on', 'off'], '`off`: no fetch ties a key; each waits.'),
      data: Type.Array(TieRow, { maxItems: TIES_PAGE }),
    },
  },
  says: ['ok', 'invalid_parameters'],
  given: ({ params: { after_id: afterId, state } }) => ({
    state: state ?? 'waits',
    ...(afterId !== null && { afterId }),
  }),
  reply: ({ isOn, ties }) => ({
    says: 'ok',
    body: {
      ties: isOn ? 'on' : 'off',
      data: ties.map(
        (tie): Static<typeof TieRow> => ({
          id: tie.id,
          install_id: tie.installId,
          former_id: tie.formerId,
          moved: tie.movingCount,
          left_out: tie.leftCount,
          at: new Date(tie.atMs).toISOString(),
        }),
      ),
    },
  }),
});

/** The outcome of an item of a call. */
const outcome = {
  done: choice(['tied', 'given', 'same', 'undone', 'no'], '`no`: nothing, for the reason `why`.'),
  why: Type.Optional(choice<string>(Object.keys(TIE_FAILURES))),
  moved: Type.Optional(counted(MOVED)),
  left_out: Type.Optional(counted(LEFT)),
};

const SettledTieRow = Type.Object({ id: RecordId, ...outcome }, { title: 'SettledTie' });
const GivenKeyRow = Type.Object(
  { install_code: text('The code of the link.', CODE_EXAMPLE), ...outcome },
  { title: 'GivenKey' },
);

const settledFacts = (settled: SettledTie) => {
  if ('why' in settled) return { done: 'no' as const, why: settled.why };
  const { done } = settled;
  return done === 'tied'
    ? { done, moved: settled.movedCount, left_out: settled.leftCount }
    : { done };
};

const settledRow = (one: { id: number } & SettledTie): Static<typeof SettledTieRow> => ({
  id: one.id,
  ...settledFacts(one),
});

const IdsInput = Type.Object(
  {
    ids: Type.Array(Type.Integer({ minimum: 1 }), {
      minItems: 1,
      maxItems: TIES_MAX,
      description: 'Of list-ties.',
      examples: [[1]],
    }),
  },
  { title: 'TieIds' },
);

type Wrong = Refused<'invalid_parameters'>;
const wrong = (detail: string): Wrong => new Refused('invalid_parameters', { detail });

/** Reads the ids of a body. */
function idsIn(body: Readonly<Record<string, unknown>>): number[] | Wrong {
  const listed = body['ids'];
  const misfit = wrong(`ids must be a list of 1 to ${TIES_MAX} ids`);
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > TIES_MAX) return misfit;
  const ids = listed.map((one) => RECORD_ID.read(`${one}`));
  return ids.every((one) => typeof one === 'number') ? (ids as number[]) : misfit;
}

const settling = {
  method: 'POST',
  repeat: 'noted',
  params: {},
  input: IdsInput,
  fields: { ok: { data: Type.Array(SettledTieRow, { maxItems: TIES_MAX }) } },
  says: ['ok', 'invalid_parameters'],
  given: ({ body }: { body: Readonly<Record<string, unknown>> }) => {
    const ids = idsIn(body);
    return isRefused(ids) ? ids : { ids };
  },
  reply: (settled: readonly ({ id: number } & SettledTie)[]) => ({
    says: 'ok' as const,
    body: { data: settled.map(settledRow) },
  }),
} as const;

const OWN_SCOPE =
  'Needs a key with the scope `ties`: `auth_key`, which a bot has, does not open it. An extension of the public contract.';

const tieKeysEndpoint = callEndpoint(tieCalls['ties.make'], {
  ...settling,
  summary: 'Make ties that wait',
  description: `Gives links the keys that wait for them, or whose tie was undone. The link that Gatepost made for the key ends: its devices move, within the limit of the link of the code, and the others lose their slots. At most ${TIES_PER_HOUR_MAX} an hour. ${OWN_SCOPE}`,
});

const untieKeysEndpoint = callEndpoint(tieCalls['ties.undo'], {
  ...settling,
  summary: 'Undo ties, or dismiss those that wait',
  description: `Takes the key from the link again. The link that ended comes back with the devices that did not leave since, and those that had lost their slots. No fetch ties the key to that link again. ${OWN_SCOPE}`,
});

const SetKeysInput = Type.Object(
  {
    links: Type.Array(
      Type.Object({
        install_code: Type.RegExp(INSTALL_CODE.pattern, { examples: [CODE_EXAMPLE] }),
        subscription_key: Type.String({
          minLength: 1,
          maxLength: SUBSCRIPTION_KEY_LENGTH_MAX,
          examples: ['a1b2c3d4e5f6g7h8'],
        }),
      }),
      { minItems: 1, maxItems: TIES_MAX },
    ),
  },
  { title: 'SetKeys' },
);

/** Reads the links of a body. */
function linksIn(
  body: Readonly<Record<string, unknown>>,
): { installCode: string; key: string }[] | Wrong {
  const listed = body['links'];
  const misfit = wrong(
    `links must be a list of 1 to ${TIES_MAX} objects with install_code and subscription_key`,
  );
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > TIES_MAX) return misfit;
  const links: { installCode: string; key: string }[] = [];
  for (const one of listed) {
    if (!isRecord(one)) return misfit;
    const installCode = readInstallCode(one['install_code']);
    const key = readSubscriptionKey(one['subscription_key']);
    if (isRefused(installCode) || isRefused(key)) return misfit;
    links.push({ installCode, key });
  }
  return links;
}

const setKeysEndpoint = callEndpoint(keyCalls['links.give-keys'], {
  method: 'POST',
  repeat: 'noted',
  summary: 'Give links the keys of their subscriptions',
  description: `For links that a bot made before it gave \`subscription_key\`. A link that Gatepost made for a key is joined with the link that gets it: its devices move, within the limit. ${OWN_SCOPE}`,
  params: {},
  input: SetKeysInput,
  fields: { ok: { data: Type.Array(GivenKeyRow, { maxItems: TIES_MAX }) } },
  says: ['ok', 'invalid_parameters'],
  given: ({ body }) => {
    const links = linksIn(body);
    return isRefused(links) ? links : { links };
  },
  reply: (settled) => ({
    says: 'ok',
    body: {
      data: settled.map(
        (one): Static<typeof GivenKeyRow> => ({
          install_code: one.installCode,
          ...settledFacts(one),
        }),
      ),
    },
  }),
});

export const tieEndpoints = [listTiesEndpoint, tieKeysEndpoint, untieKeysEndpoint, setKeysEndpoint];
