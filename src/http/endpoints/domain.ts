/** Subscription domains: specification, "Domains". */

import { type Static, Type } from '@sinclair/typebox';
import { addDomain, deleteDomain } from '../../core/domain.ts';
import { DOMAIN_HASH } from '../../core/formats.ts';
import { isRefused } from '../../core/outcome.ts';
import { ACTIVITY_NAMES } from '../../core/status-word.ts';
import { wireTime } from '../answer/wire-time.ts';
import { optional, providerEndpoint, required } from '../endpoint.ts';
import { forms, HASH_EXAMPLE, pageParams, RecordId, statusOf, WireTime } from './params.ts';
import { LIST_COUNT_MAX, replyWithList } from './reply.ts';

/** A binding in list-domain. */
const Binding = Type.Object(
  {
    id: RecordId,
    domain_name: Type.String({ examples: ['example.com'] }),
    domain_hash: Type.RegExp(DOMAIN_HASH.pattern, { examples: [HASH_EXAMPLE] }),
    status: statusOf(ACTIVITY_NAMES),
    created_at: WireTime,
  },
  { title: 'Binding' },
);

const addDomainEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/add-domain',
  repeat: 'noted',
  needs: 'main',
  summary: 'Bind a subscription domain to the provider',
  description:
    'Binds a subscription domain to the provider. A hash that was bound before becomes active again under the same `id`. A given `domain_name` replaces the description.',
  params: {
    domain_hash: required(forms.domainHash, {
      misfit: 'domain_hash_error',
      about:
        'SHA-256 of the host alone: lower case, without scheme, port, path and trailing dot; an international name in its ASCII form.',
      example: HASH_EXAMPLE,
    }),
    domain_name: optional(forms.domainName, {
      misfit: 'domain_save_error',
      about: 'A description; the first 10 digits of the hash when omitted.',
      example: 'example.com',
    }),
  },
  fields: {
    ok: { id: RecordId },
    domain_exists: { id: RecordId },
    domain_activated: { id: RecordId },
  },
  says: [
    'ok',
    'domain_exists',
    'domain_activated',
    'domain_hash_error',
    'domain_save_error',
    'domain_limit_reached',
    'domain_activate_error',
  ],
  async handle({ core, provider, params, nowMs }) {
    const { domain_hash: hash, domain_name: name } = params;
    const added = await addDomain(core, provider, hash, name, nowMs);
    if (isRefused(added)) return added;
    return { says: added.says, body: { id: added.id } };
  },
});

const deleteDomainEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/delete-domain',
  repeat: 'same',
  needs: 'main',
  summary: 'Disable a domain',
  description:
    'Disables a binding: it stays in the list with status 5, and add-domain makes it active again with the same `id`. A repetition succeeds.',
  params: { id: required(forms.id, { misfit: 'domain_not_found', example: 1 }) },
  says: ['ok', 'domain_not_found', 'domain_delete_error'],
  handle: ({ core, provider, params, nowMs }) => deleteDomain(core, provider, params.id, nowMs),
});

const listDomainEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/list-domain',
  repeat: 'reads',
  needs: 'read',
  summary: 'List domains, newest first',
  description: "Lists the provider's bindings, disabled ones too, the highest `id` first.",
  params: pageParams,
  fields: { ok: { data: Type.Array(Binding, { maxItems: LIST_COUNT_MAX }) } },
  says: ['ok', 'unknown_error'],
  handle: ({ core, provider, params, settings: { outputOffsetMinutes } }) =>
    replyWithList(
      params,
      (page) => core.store.listDomains(provider.id, page),
      (domain): Static<typeof Binding> => ({
        id: domain.id,
        domain_name: domain.domainName,
        domain_hash: domain.domainHash,
        status: domain.status,
        created_at: wireTime(domain.createdAtMs, outputOffsetMinutes),
      }),
    ),
});

export const domainEndpoints = [addDomainEndpoint, deleteDomainEndpoint, listDomainEndpoint];
