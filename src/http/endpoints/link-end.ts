/** Ends of limited links: extensions of the public contract. */

import { Type } from '@sinclair/typebox';
import { linkPanelCalls } from '../../call/link-panel-calls.ts';
import { INSTALL_CODE } from '../../core/formats.ts';
import { freeSlots, revokeLink } from '../../core/link.ts';
import { callerName } from '../answer/large.ts';
import { callEndpoint, providerEndpoint, required } from '../endpoint.ts';
import { CODE_EXAMPLE, CountField, forms, RecordId, selectorParams } from './params.ts';
import { replyWith } from './reply.ts';

const Freed = Type.Integer({
  minimum: 0,
  description: 'The number of HWIDs that lost their slot.',
  examples: [2],
});

const freeSlotsEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/free-slots',
  repeat: 'noted',
  needs: 'links',
  summary: 'Free all slots of a limited link',
  description:
    'Deletes all HWIDs from a link, as delete-hwid does with one. An extension of the public contract.',
  params: selectorParams('invalid_parameters'),
  fields: { ok: { install_count: CountField, freed: Freed } },
  says: ['ok', 'invalid_parameters', 'install_code_error'],
  handle({ core, provider, params, nowMs }) {
    const { install_code: installCode, install_id: installId } = params;
    const freed = freeSlots(core, provider, { installCode, installId }, nowMs);
    return replyWith(freed, ({ freedCount }) => ({ install_count: 0, freed: freedCount }));
  },
});

const idParam = required(forms.id, { misfit: 'install_not_found', example: 1 });

const revokeLinkEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/revoke-install',
  repeat: 'again',
  needs: 'links',
  summary: 'Give a limited link a new code',
  description:
    'For a link that got into the wrong hands: it gets a new random code and loses its subscription key, all its HWIDs are deleted, and the device tokens that were registered by it die. Old code and key are those of an unknown link from then on, and for a year make no link. With `had_subscription_key` the key must change at the panel too; update-install sets the new one. An extension of the public contract.',
  params: { id: idParam },
  fields: {
    ok: {
      install_code: Type.RegExp(INSTALL_CODE.pattern, { examples: [CODE_EXAMPLE] }),
      id: RecordId,
      freed: Freed,
      had_subscription_key: Type.Boolean({
        description: 'True: the link had a subscription key, which it lost.',
        examples: [false],
      }),
    },
  },
  says: ['ok', 'install_not_found', 'install_save_error'],
  handle({ core, provider, params: { id }, nowMs, limits }) {
    const turn = () => limits.turns.next(callerName({ provider }));
    return replyWith(revokeLink(core, provider, id, nowMs, turn), (revoked) => ({
      install_code: revoked.installCode,
      id,
      freed: revoked.freedCount,
      had_subscription_key: revoked.hadKey,
    }));
  },
});

const removeLinkEndpoint = callEndpoint(linkPanelCalls['links.remove'], {
  method: 'GET',
  repeat: 'noted',
  summary: 'Remove a limited link',
  description:
    'Removes a link and its HWIDs. For a year its code and its subscription key make no link: add-install answers `Install code exists`, a proxy of Gatepost answers as for an unknown link. A repeated call answers `Install not found`. An extension of the public contract.',
  params: { id: idParam },
  fields: { ok: { id: RecordId, freed: Freed } },
  says: ['ok', 'install_not_found', 'install_save_error'],
  given: ({ params: { id } }) => ({ id }),
  reply: ({ freedCount }, { id }) => ({ says: 'ok', body: { id, freed: freedCount } }),
});

export const linkEndEndpoints = [freeSlotsEndpoint, revokeLinkEndpoint, removeLinkEndpoint];
