/** Limited links: specification, "Limited links". The HWIDs on them are in hwid.ts. */

import { type Static, Type } from '@sinclair/typebox';
import type { Core } from '../../core/core.ts';
import { figuresFilterOf, readFiguresWish, withFigures } from '../../core/figures-filter.ts';
import { INSTALL_CODE, isShortCode } from '../../core/formats.ts';
import { readKeyedCall } from '../../core/idempotency.ts';
import {
  addLink,
  EXISTS,
  findNamed,
  type LinkEdit,
  searchLinks,
  updateLink,
} from '../../core/link.ts';
import { isRefused, type Refused } from '../../core/outcome.ts';
import {
  INSTALL_ACTIVE,
  INSTALL_DISABLED,
  type Link,
  type LinkTerms,
} from '../../core/port/link.ts';
import { after, type Maybe } from '../../core/port/maybe.ts';
import type { Page } from '../../core/port/page.ts';
import type { Provider } from '../../core/port/provider.ts';
import type { ShownFigures } from '../../core/port/subscription-figures.ts';
import { ACTIVITY_NAMES } from '../../core/status-word.ts';
import { LINK_TERMS, POLICY_TERMS } from '../../core/terms.ts';
import { callerName } from '../answer/large.ts';
import { wireTime } from '../answer/wire-time.ts';
import { type Answer, optional, providerEndpoint, required, type Values } from '../endpoint.ts';
import { type MessageKey, TAKEN } from '../messages.ts';
import {
  figuresParams,
  NEEDS_FIGURES,
  refusedFigures,
  Subscription,
  subscriptionView,
} from './figures-params.ts';
import { keyParam, REPEATED } from './once.ts';
import {
  CODE_EXAMPLE,
  CountField,
  forms,
  LimitField,
  own,
  pageParams,
  RecordId,
  statusOf,
  WireTime,
} from './params.ts';
import { LIST_COUNT_MAX, replyWith, replyWithList } from './reply.ts';
import { paramsOf, termsReader } from './term-params.ts';

const CodeField = Type.RegExp(INSTALL_CODE.pattern, { examples: [CODE_EXAMPLE] });
/** A link in list-install. */
const LimitedLink = Type.Object(
  {
    id: RecordId,
    install_code: CodeField,
    install_limit: LimitField,
    install_count: CountField,
    status: statusOf(ACTIVITY_NAMES),
    note: Type.Union([Type.String(), Type.Null()], { examples: ['spring offer'] }),
    created_at: WireTime,
    subscription: Type.Optional(
      Type.Union([Subscription, Type.Null()], {
        description:
          'Only with `details=1`: end and traffic of the subscription, as the panel tells them to apps; null: not known.',
      }),
    ),
  },
  { title: 'LimitedLink' },
);

/** Terms of a link that extend the contract. */
const termParams = <const K extends MessageKey>(misfit: K) => ({
  ...paramsOf(LINK_TERMS, misfit, (field) =>
    field in POLICY_TERMS ? 'that of the provider' : "the provider's",
  ),
  subscription_key: optional(forms.subscriptionKey, {
    misfit,
    about:
      'The key of the subscription at a panel, by which the gate finds the link; `default` is none. Stored as its SHA-256 alone; no other link of the provider may have it.',
  }),
});

const readTerms = termsReader(LINK_TERMS);

/** Returns the given terms in the form of the core. */
function termsOf(params: Values<ReturnType<typeof termParams>>) {
  const terms: Partial<LinkTerms> & Pick<LinkEdit, 'subscriptionKey'> = readTerms(params);
  const { subscription_key: key } = params;
  return key === null ? terms : { ...terms, subscriptionKey: own(key) };
}

const addLinkEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/add-install',
  repeat: 'keyed',
  needs: 'links',
  summary: 'Create a limited link',
  description:
    'Creates a limited link, active at once. A taken code, or the subscription key of another link, is answered before a reached number of links. The parameters from `inactive_days` on are extensions of the public contract.',
  params: {
    install_limit: required(forms.installLimit, {
      misfit: 'install_limit_error',
      about: 'How many devices the link admits.',
      example: 3,
    }),
    install_code: optional(forms.newInstallCode, {
      misfit: 'unknown_error',
      about:
        'The code of the link; a random one when omitted. With `short_codes` of `policy` it may also have 8 to 11 characters that mix digits and letters, or both cases of letters.',
      wider: { ...forms.chosenCode, isFor: ({ shortCodes }) => shortCodes === 1 },
    }),
    note: optional(forms.note, {
      misfit: 'unknown_error',
      about: 'A note for the provider; control characters in it become blanks.',
      example: 'spring offer',
    }),
    ...termParams('unknown_error'),
    ...keyParam(),
  },
  fields: {
    ok: { install_code: CodeField, id: RecordId },
    install_code_exists: {
      id: Type.Optional(RecordId),
      install_code: Type.Optional(CodeField),
    },
    install_code_taken: { detail: Type.Literal(TAKEN) },
  },
  answerHeaders: {
    'x-install-id': {
      about: "Comes with `Install code exists`: the `id` of the provider's own link that has it.",
      example: '1',
    },
  },
  says: [
    'ok',
    'install_code_exists',
    'install_code_taken',
    'install_limit_error',
    'install_code_limit_reached',
    'unknown_error',
  ],
  handle({ core, provider, params, nowMs, settings: { legacyRc2Body } }) {
    const { install_code: installCode, install_limit: installLimit, note } = params;
    const { idempotency_key: key } = params;
    const keyed =
      key === null ? null : readKeyedCall('add-install', null, params, core.leastMs(nowMs));
    if (isRefused(keyed)) return keyed;
    const draft = { ...termsOf(params), installCode, installLimit, note, keyed };
    return after(addLink(core, provider, draft, nowMs), (added) => {
      if (!isRefused(added)) {
        const { id, installCode: code, isRepeat } = added;
        const body = { install_code: code, id };
        return { says: 'ok', body, detail: isRepeat && REPEATED };
      }
      return answerNotAdded(core, provider, installCode, added, legacyRc2Body);
    });
  },
});

type NotAdded = Extract<Awaited<ReturnType<typeof addLink>>, Refused<string>>;
type Exists = NotAdded | Answer<'install_code_exists' | 'install_code_taken'>;

/**
 * Answers for a link that was not added. With `rc2_body`, and for a short code, which others can
 * choose first, `rc` 2 is for the provider's own links alone: clients read it as a success.
 */
function answerNotAdded(
  core: Core,
  provider: Provider,
  installCode: string | null,
  refused: NotAdded,
  legacyRc2Body: boolean,
): Maybe<Exists> {
  const { detail, recordId, says } = refused;
  if (says !== 'install_code_exists') return refused;
  const namesLink = provider.rc2Body === null ? legacyRc2Body : provider.rc2Body === 'on';
  if (recordId === undefined) {
    if (!namesLink && !isShortCode(installCode)) return refused;
    return {
      says: 'install_code_taken',
      body: { detail: TAKEN },
      ...(detail !== EXISTS.install_code_exists && { detail }),
    };
  }
  const reply = { says, detail, headers: { 'x-install-id': `${recordId}` } };
  if (!namesLink) return reply;
  return after(core.store.findLinkById(recordId), (link) =>
    link?.providerId === provider.id
      ? { ...reply, body: { id: link.id, install_code: link.installCode } }
      : refused,
  );
}

const updateLinkEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/update-install',
  repeat: 'same',
  needs: 'links',
  summary: 'Update a limited link',
  description:
    'Changes a link: all given parameters together, or none. With `id` alone it changes nothing and succeeds. The parameters from `inactive_days` on are extensions of the public contract.',
  params: {
    id: required(forms.id, { misfit: 'install_not_found', example: 1 }),
    install_limit: optional(forms.installLimit, {
      misfit: 'install_limit_error',
      about:
        'How many devices the link admits; not below the HWIDs that are on it, but with `as_they_leave`.',
      example: 5,
    }),
    note: optional(forms.note, {
      misfit: 'install_save_error',
      about: 'A note for the provider, as for add-install; an empty one clears it.',
      keepsEmpty: true,
    }),
    status: optional(forms.installStatus, {
      misfit: 'install_status_error',
      about: `${INSTALL_DISABLED} Disabled admits no new device, ${INSTALL_ACTIVE} is Active.`,
    }),
    ...termParams('install_save_error'),
    as_they_leave: optional(forms.flag, {
      misfit: 'install_save_error',
      about:
        '1: an `install_limit` below the HWIDs that are on the link is no error. It admits no new device, and its limit falls with each HWID that leaves, until it is reached.',
    }),
  },
  fields: { ok: { install_code: CodeField, id: RecordId } },
  says: [
    'ok',
    'install_not_found',
    'install_limit_error',
    'install_limit_below_count',
    'install_status_error',
    'install_save_error',
  ],
  handle({ core, provider, params, nowMs }) {
    const { as_they_leave: asTheyLeave, id, install_limit: installLimit, note, status } = params;
    const change: LinkEdit = {
      ...(installLimit !== null && { installLimit, asTheyLeave: asTheyLeave === 1 }),
      ...(note !== null && { note: note === '' ? null : note }),
      ...(status !== null && { status }),
      ...termsOf(params),
    };
    const updated = updateLink(core, provider, id, change, nowMs);
    return replyWith(updated, (link) => ({ install_code: link.installCode, id }));
  },
});

const listLinkEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/list-install',
  repeat: 'reads',
  needs: 'read',
  summary: 'List limited links, newest first',
  description: "Lists the provider's links, the highest `id` first.",
  params: {
    ...pageParams,
    install_code: optional(forms.installCode, {
      misfit: 'unknown_error',
      about: 'Only the link with this code: an extension of the public contract.',
    }),
    subscription_key: optional(forms.subscriptionKey, {
      misfit: 'unknown_error',
      about: 'Only the link with this subscription key.',
    }),
    search: optional(forms.linkSearch, {
      misfit: 'unknown_error',
      about:
        'Only links with this in their note, code or the model of a device on them, in any case (of other scripts too, and with Persian and Arabic letters and digits alike), or at the start of a HWID on them.',
      example: 'spring',
    }),
    over: optional(forms.flag, {
      misfit: 'unknown_error',
      about: 'With 1 only links with more HWIDs than their limit.',
    }),
    copied: optional(forms.flag, {
      misfit: 'unknown_error',
      about: 'With 1 only links with a HWID that several phones certainly send.',
    }),
    details: optional(forms.flag, {
      misfit: 'unknown_error',
      about: `With 1 each link has \`subscription\` too. ${NEEDS_FIGURES}`,
    }),
    ...figuresParams(),
  },
  fields: { ok: { data: Type.Array(LimitedLink, { maxItems: LIST_COUNT_MAX }) } },
  says: ['ok', 'auth_error', 'unknown_error'],
  handle: (call) => {
    const { core, provider, params, settings, limits, nowMs } = call;
    const { outputOffsetMinutes } = settings;
    const isDetailed = params.details === 1;
    const wish = readFiguresWish(params);
    if (isRefused(wish)) return wish;
    const refused = wish !== null || isDetailed ? refusedFigures(call) : null;
    if (refused !== null) return refused;
    const figures = wish && figuresFilterOf(wish, nowMs);
    const turn = () => limits.turns.next(callerName({ provider }));
    const { install_code: installCode, subscription_key: subscriptionKey, search } = params;
    const [isOver, isCopied] = [params.over === 1, params.copied === 1];
    const matching = (page: Page): Maybe<readonly Link[]> =>
      search === null && !isOver && !isCopied && figures === null
        ? core.store.listLinksOf(provider.id, page)
        : searchLinks(core, provider, { search, isOver, isCopied, figures }, page, turn);
    const named = (page: Page) =>
      after(findNamed(core, provider, { installCode, subscriptionKey }), (link) =>
        isOn(page, link) ? matching({ ...page, id: link.id }) : [],
      );
    const found = (installCode ?? subscriptionKey) === null ? matching : named;
    const time = (ms: number) => wireTime(ms, outputOffsetMinutes);
    return replyWithList(
      params,
      (page): Maybe<readonly ListedLink[]> =>
        isDetailed ? after(found(page), (links) => withFigures(core, links)) : found(page),
      ({ figures: known, ...install }): Static<typeof LimitedLink> => ({
        id: install.id,
        install_code: install.installCode,
        install_limit: install.installLimit,
        install_count: install.deviceCount,
        status: install.status,
        note: install.note,
        created_at: time(install.createdAtMs),
        ...(known !== undefined && { subscription: known && subscriptionView(known, time) }),
      }),
    );
  },
});

/** A link of a list, with its figures if they were asked for. */
type ListedLink = Link & { figures?: ShownFigures | null };

/**
 * Returns whether a link that was found by a name is on the page: the selected link, if there is
 * one.
 */
function isOn({ id }: Page, link: Link | null): link is Link {
  return link !== null && (id === null || link.id === id);
}

export const linkEndpoints = [addLinkEndpoint, updateLinkEndpoint, listLinkEndpoint];
