/** Calls of the console about one link: panel, change, removal, final forms. */

import { Type } from '@sinclair/typebox';
import { LOOK, SEND } from '../core/account/roles.ts';
import { fieldsOf, only, onlyGiven } from '../core/field.ts';
import { FINAL_FORMS, finalLink, readSubscriptionUrl } from '../core/final-link.ts';
import { removeLink, updateLink } from '../core/link.ts';
import { readLinkChange, STAFF_TERMS } from '../core/link-form.ts';
import { lookAtLink } from '../core/link-look.ts';
import { joinMadeLink, TIE_FAILURES } from '../core/link-tie.ts';
import { myUrlOf } from '../core/my.ts';
import { NAMED_PER_CALL, nameHwids } from '../core/named-hwid.ts';
import { isRefused, malformed, Refused } from '../core/outcome.ts';
import { INSTALL_ACTIVE, type LinkTerms } from '../core/port/link.ts';
import { seesCodes, shownCode } from '../core/secret-code.ts';
import { LINK_TERMS } from '../core/terms.ts';
import { type DoerFor, type Inside, lookCall, sharedCall } from './call.ts';
import { figuresStateOf } from './figures.ts';
import { atProvider, id, inputsOf, nullable, text } from './inputs.ts';

const URL_LENGTH_MAX = 2_000;
const HWID_LENGTH_MAX = 128;

/** The new values of a link; absent fields stay. */
export const linkChangeInput = {
  limit: Type.Optional(Type.Integer()),
  /** True: a limit below the devices of the link holds as they leave. */
  asTheyLeave: Type.Optional(Type.Boolean()),
  note: Type.Optional(text(2_000)),
  status: Type.Optional(Type.Union([Type.Literal(5), Type.Literal(10)])),
  ...inputsOf<Partial<LinkTerms>>(STAFF_TERMS),
};

const editInput = atProvider({ id, ...linkChangeInput });

/** A change of a link; the console has no field for the panel's key, nor for each term. */
type LinkEdit = Inside<typeof editInput> & {
  subscriptionKey?: string | null | undefined;
} & Partial<LinkTerms>;

export const linkPanelCalls = {
  'links.show': lookCall(LOOK, atProvider({ id }), async (staff, given) => {
    const { core, nowMs, provider } = staff;
    const isWhole = seesCodes(core, provider, staff.signedIn.grants);
    const found = await lookAtLink(core, provider, given.id, nowMs);
    if (isRefused(found)) return found;
    const { link, policy, ...more } = found;
    const isFigured = figuresStateOf(staff) === 'shown';
    return {
      /** Null: not known, or not shown. */
      figures: isFigured ? await core.store.findSubscriptionFigures(link.id) : null,
      id: link.id,
      code: isWhole ? link.installCode : shownCode(link.installCode),
      note: link.note,
      own: only(link, fieldsOf(STAFF_TERMS)),
      status: link.status,
      limit: link.installLimit,
      limitWanted: link.limitWanted,
      deviceCount: link.deviceCount,
      nowMs,
      createdAtMs: link.createdAtMs,
      hasKey: link.hasSubscriptionKey,
      policy,
      ...more,
      /**
       * The address of the link's page of users; null: it has none, or the settings lack an
       * address.
       */
      pageUrl:
        link.status === INSTALL_ACTIVE && isWhole ? myUrlOf(core, provider, link, nowMs) : null,
    };
  }),
  'links.edit': sharedCall(
    SEND,
    ['install.update', 'install.tie', 'install.remove'],
    { commands: ['link set', 'link enable', 'link disable'] },
    editInput,
    async ({ core, nowMs, provider }: DoerFor, given: LinkEdit) => {
      const { id: linkId, subscriptionKey, ...form } = given;
      const change = readLinkChange(form);
      if (isRefused(change)) return change;
      const terms = only(form, fieldsOf(LINK_TERMS));
      if (typeof subscriptionKey === 'string') {
        const failure = await joinMadeLink(core, provider, linkId, subscriptionKey, nowMs);
        if (failure === 'install_not_found') return new Refused(failure);
        if (failure !== null) {
          return new Refused('install_save_error', { detail: TIE_FAILURES[failure] });
        }
      }
      const wanted = { ...terms, ...change, ...onlyGiven({ subscriptionKey }) };
      return updateLink(core, provider, linkId, wanted, nowMs);
    },
  ),
  /** Names HWIDs for a link before they come. */
  'links.name': sharedCall(
    SEND,
    ['hwid.name'],
    { api: { path: '/api/add-hwid', needs: 'links' }, commands: ['link name'] },
    atProvider({
      installId: Type.Optional(id),
      installCode: Type.Optional(text(64)),
      hwids: Type.Array(text(HWID_LENGTH_MAX), { minItems: 1, maxItems: NAMED_PER_CALL }),
    }),
    ({ core, nowMs, provider }: DoerFor, { hwids, installCode = null, installId = null }) =>
      nameHwids(core, provider, { installCode, installId }, hwids, nowMs),
  ),
  'links.remove': sharedCall(
    SEND,
    ['install.remove'],
    { api: { path: '/api/remove-install', needs: 'links' }, commands: ['link remove'] },
    atProvider({ id }),
    ({ core, nowMs, provider }: DoerFor, given) => removeLink(core, provider, given.id, nowMs),
  ),
  /** Returns the final link in the forms that apps read. */
  'links.final': lookCall(
    LOOK,
    atProvider({ id, url: text(URL_LENGTH_MAX), title: nullable(text(64)) }),
    async ({ core, provider, signedIn }, given) => {
      const link = await core.store.findLinkById(given.id);
      if (link?.providerId !== provider.id) return new Refused('install_not_found');
      // The forms hold the code.
      if (!seesCodes(core, provider, signedIn.grants)) return [];
      const url = readSubscriptionUrl(given.url);
      if (url === null) return malformed('url must be an http or https address without a user');
      const title = given.title?.trim() || null;
      const subscription = { url, title, installCode: link.installCode };
      return FINAL_FORMS.map((app) => ({ app, text: finalLink(app, subscription) }));
    },
  ),
};
