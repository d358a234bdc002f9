/** Subscription domains: add-domain, delete-domain, list-domain. */

import {
  aBinding,
  aDeletedBinding,
  FOREIGN,
  gateScenarios,
  HASH,
  OTHER_HASH,
  type Scenario,
} from './scenario.ts';

const ADD = '/api/add-domain';
const DELETE = '/api/delete-domain';
const LIST = '/api/list-domain';

const SAVE_ERROR = '{"rc":0,"msg":"Error save domain"}';
const NOT_FOUND = '{"rc":0,"msg":"Domain not found"}';
const NOT_FOUND_DETAIL = 'id names no binding of this provider';
const FAULT_DETAIL = 'the binding could not be saved; internal fault ';
const EXISTS = '{"rc":2,"msg":"Domain hash exists","id":1}';
const ACTIVATED = '{"rc":2,"msg":"Domain hash exists. State set to active","id":1}';

const hashError = (name: string, request: Scenario['request'], detail: string): Scenario => ({
  name,
  path: ADD,
  says: 'domain_hash_error',
  given: [aBinding()],
  request,
  answer: '{"rc":0,"msg":"Domain hash error"}',
  detail,
});

const addDomain: Scenario[] = [
  ...gateScenarios(ADD, { domain_hash: HASH }, [], 'addDomain'),
  {
    name: 'a new hash',
    path: ADD,
    says: 'ok',
    request: { domain_hash: HASH, domain_name: 'Мой домен' },
    answer: '{"rc":1,"msg":"Ok","id":1}',
    changed: ['domain 1 added', 'provider 1 domain_count: 0 -> 1'],
  },
  {
    name: 'a hash that another provider has bound: none of the two learns of it',
    path: ADD,
    says: 'ok',
    given: [aBinding(HASH, FOREIGN)],
    request: { domain_hash: HASH },
    answer: '{"rc":1,"msg":"Ok","id":2}',
    changed: ['domain 2 added', 'provider 1 domain_count: 0 -> 1'],
  },
  {
    name: 'a hash bound and active, without a name: the name stays',
    path: ADD,
    says: 'domain_exists',
    given: [aBinding()],
    request: { domain_hash: HASH },
    answer: EXISTS,
  },
  {
    name: 'a hash bound and active, with a name: renamed',
    path: ADD,
    says: 'domain_exists',
    given: [aBinding()],
    request: { domain_hash: HASH, domain_name: 'new' },
    answer: EXISTS,
    changed: ['domain 1 domain_name: "shop" -> "new"'],
  },
  {
    name: 'a hash bound and disabled: active again under its old id',
    path: ADD,
    says: 'domain_activated',
    given: [aBinding(), aDeletedBinding(1)],
    request: { domain_hash: HASH },
    answer: ACTIVATED,
    changed: ['domain 1 status: 5 -> 10'],
  },
  {
    name: 'a hash bound and disabled, with a name',
    path: ADD,
    says: 'domain_activated',
    given: [aBinding(), aDeletedBinding(1)],
    request: { domain_hash: HASH, domain_name: 'new' },
    answer: ACTIVATED,
    changed: ['domain 1 domain_name: "shop" -> "new"', 'domain 1 status: 5 -> 10'],
  },
  hashError('no hash', {}, 'domain_hash is required: 64 lower-case hexadecimal digits'),
  hashError(
    'a hash in upper case',
    { domain_hash: 'A'.repeat(64) },
    'domain_hash must be 64 lower-case hexadecimal digits',
  ),
  hashError(
    'a letter that only the looser pattern of the specification allows',
    { domain_hash: 'g'.repeat(64) },
    'domain_hash must be 64 lower-case hexadecimal digits',
  ),
  {
    name: 'a name of 256 characters',
    path: ADD,
    says: 'domain_save_error',
    given: [aBinding()],
    request: { domain_hash: OTHER_HASH, domain_name: 'д'.repeat(256) },
    answer: SAVE_ERROR,
    detail: 'domain_name must be one line of up to 255 characters in UTF-8',
  },
  {
    name: 'a binding beyond the cap',
    path: ADD,
    options: { bounds: { domainsPerProviderMax: 1 } },
    says: 'domain_limit_reached',
    given: [aBinding()],
    request: { domain_hash: OTHER_HASH },
    answer: SAVE_ERROR,
    detail: 'the provider has as many bindings as it may have',
  },
  {
    name: 'a binding that cannot be saved',
    path: ADD,
    says: 'domain_save_error',
    request: { domain_hash: HASH },
    fault: { method: 'addDomain', kind: 'write_failed' },
    answer: SAVE_ERROR,
    detail: FAULT_DETAIL,
  },
  {
    name: 'a state that cannot be saved',
    path: ADD,
    says: 'domain_activate_error',
    given: [aBinding(), aDeletedBinding(1)],
    request: { domain_hash: HASH, domain_name: 'new' },
    fault: { method: 'activateDomain', kind: 'write_failed' },
    answer: '{"rc":0,"msg":"Error change state to active"}',
    detail: FAULT_DETAIL,
  },
];

const deleteDomain: Scenario[] = [
  ...gateScenarios(DELETE, { id: 1 }, [aBinding()], 'disableDomain'),
  {
    name: 'an active binding: disabled, not gone',
    path: DELETE,
    says: 'ok',
    given: [aBinding()],
    request: { id: 1 },
    answer: '{"rc":1,"msg":"Ok"}',
    changed: ['domain 1 status: 10 -> 5'],
  },
  {
    name: 'a second time',
    path: DELETE,
    says: 'ok',
    given: [aBinding(), aDeletedBinding(1)],
    request: { id: 1 },
    answer: '{"rc":1,"msg":"Ok"}',
  },
  {
    name: 'an id that nobody has',
    path: DELETE,
    says: 'domain_not_found',
    given: [aBinding()],
    request: { id: 2 },
    answer: NOT_FOUND,
    detail: NOT_FOUND_DETAIL,
  },
  {
    name: "another provider's id",
    path: DELETE,
    says: 'domain_not_found',
    given: [aBinding(HASH, FOREIGN)],
    request: { id: 1 },
    answer: NOT_FOUND,
    detail: NOT_FOUND_DETAIL,
  },
  {
    name: 'no id',
    path: DELETE,
    says: 'domain_not_found',
    given: [aBinding()],
    request: {},
    answer: NOT_FOUND,
    detail: 'id is required: a whole number of 1 to 15 digits',
  },
  {
    name: 'a change that cannot be saved',
    path: DELETE,
    says: 'domain_delete_error',
    given: [aBinding()],
    request: { id: 1 },
    fault: { method: 'disableDomain', kind: 'write_failed' },
    answer: '{"rc":0,"msg":"Domain delete error"}',
    detail: FAULT_DETAIL,
  },
];

const record = (id: number, hash: string, name: string, status: number) =>
  `{"id":${id},"domain_name":"${name}","domain_hash":"${hash}","status":${status},` +
  '"created_at":"2026-11-20 15:00:00"}';

const listDomain: Scenario[] = [
  ...gateScenarios(LIST, {}, [aBinding()], 'listDomains'),
  {
    name: 'everything of its own, newest first, the disabled ones too',
    path: LIST,
    says: 'ok',
    given: [aBinding(), aBinding(HASH, FOREIGN), aBinding(OTHER_HASH), aDeletedBinding(1)],
    request: {},
    answer:
      '{"rc":1,"msg":"Ok","data":[' +
      `${record(3, OTHER_HASH, 'shop', 10)},${record(1, HASH, 'shop', 5)}]}`,
  },
  {
    name: 'one id',
    path: LIST,
    says: 'ok',
    given: [aBinding(), aBinding(OTHER_HASH)],
    request: { id: 1 },
    answer: `{"rc":1,"msg":"Ok","data":[${record(1, HASH, 'shop', 10)}]}`,
  },
  {
    name: "another provider's id",
    path: LIST,
    says: 'ok',
    given: [aBinding(HASH, FOREIGN)],
    request: { id: 1 },
    answer: '{"rc":1,"msg":"Ok","data":[]}',
  },
  {
    name: 'a malformed id',
    path: LIST,
    says: 'unknown_error',
    given: [aBinding()],
    request: { id: 'one' },
    answer: '{"rc":0,"msg":"Unknown error"}',
    detail: 'id must be a whole number of 1 to 15 digits',
  },
];

export const domainScenarios = [...addDomain, ...deleteDomain, ...listDomain];
