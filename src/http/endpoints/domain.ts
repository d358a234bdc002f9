/** Subscription domains: specification, "Domains". */

import { Type } from '@sinclair/typebox';
import { addDomain, DOMAIN_HASH, deleteDomain, listDomains } from '../../core/domain.ts';
import { NotSaved } from '../../core/outcome.ts';
import { optional, providerEndpoint, required } from '../endpoint.ts';
import { wireTime } from '../wire-time.ts';
import { ID_RULE, Id, ONE_LINE_RULE, OneLine, pageOf, pageParams } from './params.ts';

const addDomainEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/add-domain',
  summary: 'Bind a subscription domain to the provider',
  params: {
    domain_hash: required(Type.RegExp(DOMAIN_HASH), {
      misfit: 'domain_hash_error',
      rule: '64 lower-case hexadecimal digits',
    }),
    domain_name: optional(OneLine, { misfit: 'domain_save_error', rule: ONE_LINE_RULE }),
  },
  says: [
    'ok',
    'domain_exists',
    'domain_activated',
    'domain_hash_error',
    'domain_save_error',
    'domain_activate_error',
  ],
  async handle({ core, provider, params, nowMs }) {
    const { domain_hash: hash, domain_name: name } = params;
    const added = await addDomain(core, provider, hash, name, nowMs);
    if (added instanceof NotSaved) return added;
    return { says: added.says, body: { id: added.id } };
  },
});

const deleteDomainEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/delete-domain',
  summary: 'Disable a domain',
  params: { id: required(Id, { misfit: 'domain_not_found', rule: ID_RULE }) },
  says: ['ok', 'domain_not_found', 'domain_delete_error'],
  handle: ({ core, provider, params, nowMs }) => deleteDomain(core, provider, params.id, nowMs),
});

const listDomainEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/list-domain',
  summary: 'List domains, newest first',
  params: pageParams,
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, params, settings }) {
    const domains = await listDomains(core, provider, pageOf(params));
    const data = domains.map((domain) => ({
      id: domain.id,
      domain_name: domain.domainName,
      domain_hash: domain.domainHash,
      status: domain.status,
      created_at: wireTime(domain.createdAtMs, settings.outputOffsetMinutes),
    }));
    return { says: 'ok', body: { data } };
  },
});

export const domainEndpoints = [addDomainEndpoint, deleteDomainEndpoint, listDomainEndpoint];
