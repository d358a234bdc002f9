/** Limited links: specification, "Limited links". */

import { Type } from '@sinclair/typebox';
import { HWID } from '../../core/device.ts';
import {
  addInstall,
  freeSlot,
  INSTALL_ACTIVE,
  INSTALL_DISABLED,
  INSTALL_LIMIT_MAX,
  type InstallChange,
  listInstalls,
  listSlots,
  updateInstall,
} from '../../core/install.ts';
import { optional, providerEndpoint, required } from '../endpoint.ts';
import { wireTime } from '../wire-time.ts';
import {
  CODE_RULE,
  HWID_RULE,
  ID_RULE,
  Id,
  InstallCode,
  LIST_COUNT_MAX,
  ONE_LINE_RULE,
  OneLine,
  pageOf,
  pageParams,
  requiredHwid,
  selectorParams,
} from './params.ts';

const Limit = Type.Integer({ minimum: 1, maximum: INSTALL_LIMIT_MAX });
const Status = Type.Union([Type.Literal(INSTALL_DISABLED), Type.Literal(INSTALL_ACTIVE)]);
const LIMIT_RULE = `a whole number from 1 to ${INSTALL_LIMIT_MAX}`;
const STATUS_RULE = `${INSTALL_DISABLED} or ${INSTALL_ACTIVE}`;

const addInstallEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/add-install',
  summary: 'Create a limited link',
  params: {
    install_limit: required(Limit, { misfit: 'install_limit_error', rule: LIMIT_RULE }),
    install_code: optional(InstallCode, { misfit: 'unknown_error', rule: CODE_RULE }),
    note: optional(OneLine, { misfit: 'unknown_error', rule: ONE_LINE_RULE }),
  },
  says: [
    'ok',
    'install_code_exists',
    'install_limit_error',
    'install_code_limit_reached',
    'unknown_error',
  ],
  async handle({ core, provider, params, nowMs }) {
    const { install_code: installCode, install_limit: installLimit, note } = params;
    const added = await addInstall(core, provider, { installCode, installLimit, note }, nowMs);
    if (added.says !== 'ok') return added.says;
    return { says: 'ok', body: { install_code: added.installCode, id: added.id } };
  },
});

const updateInstallEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/update-install',
  summary: 'Update a limited link',
  params: {
    id: required(Id, { misfit: 'install_not_found', rule: ID_RULE }),
    install_limit: optional(Limit, { misfit: 'install_limit_error', rule: LIMIT_RULE }),
    note: optional(OneLine, {
      misfit: 'install_save_error',
      rule: ONE_LINE_RULE,
      keepsEmpty: true,
    }),
    status: optional(Status, { misfit: 'install_status_error', rule: STATUS_RULE }),
  },
  says: [
    'ok',
    'install_not_found',
    'install_limit_error',
    'install_limit_below_count',
    'install_status_error',
    'install_save_error',
  ],
  async handle({ core, provider, params, nowMs }) {
    const { id, install_limit: installLimit, note, status } = params;
    const change: InstallChange = {
      ...(installLimit !== null && { installLimit }),
      ...(note !== null && { note: note === '' ? null : note }),
      ...(status !== null && { status }),
    };
    const updated = await updateInstall(core, provider, id, change, nowMs);
    if (updated.says !== 'ok') return 'fault' in updated ? updated : updated.says;
    return { says: 'ok', body: { install_code: updated.installCode, id } };
  },
});

const listInstallEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/list-install',
  summary: 'List limited links, newest first',
  params: pageParams,
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, params, settings }) {
    const installs = await listInstalls(core, provider, pageOf(params));
    const data = installs.map((install) => ({
      id: install.id,
      install_code: install.installCode,
      install_limit: install.installLimit,
      install_count: install.deviceCount,
      status: install.status,
      note: install.note,
      created_at: wireTime(install.createdAtMs, settings.outputOffsetMinutes),
    }));
    return { says: 'ok', body: { data } };
  },
});

const listHwidEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/list-hwid',
  summary: 'List the HWIDs of a limited link, latest registration first',
  params: {
    ...selectorParams,
    // Its format is asked after the selectors, as the order of the table has it.
    hwid: optional(Type.String(), { misfit: 'unknown_error', rule: HWID_RULE }),
  },
  says: ['ok', 'install_code_error', 'unknown_error'],
  async handle({ core, provider, params, settings }) {
    const { install_code: installCode, install_id: installId, hwid } = params;
    if (installCode === null && installId === null) {
      return { says: 'install_code_error', detail: 'install_code or install_id is required' };
    }
    if (hwid !== null && !HWID.test(hwid)) {
      return { says: 'unknown_error', detail: `hwid must be ${HWID_RULE}` };
    }
    const selector = { installCode, installId };
    const slots = await listSlots(core, provider, selector, hwid, LIST_COUNT_MAX);
    if (slots === 'install_code_error') return slots;
    const data = slots.map((slot) => ({
      hwid: slot.hwid,
      date: wireTime(slot.registeredAtMs, settings.outputOffsetMinutes),
      device_name: slot.deviceName,
    }));
    return { says: 'ok', body: { data } };
  },
});

const deleteHwidEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/delete-hwid',
  summary: 'Delete a HWID from a limited link',
  params: { ...selectorParams, hwid: requiredHwid },
  says: ['ok', 'invalid_parameters', 'install_code_error'],
  async handle({ core, provider, params, nowMs }) {
    const { install_code: installCode, install_id: installId, hwid } = params;
    if (installCode === null && installId === null) {
      return { says: 'invalid_parameters', detail: 'install_code or install_id is required' };
    }
    const freed = await freeSlot(core, provider, { installCode, installId }, hwid, nowMs);
    if (freed === 'install_code_error') return freed;
    return { says: 'ok', body: { install_count: freed.deviceCount } };
  },
});

export const installEndpoints = [
  addInstallEndpoint,
  updateInstallEndpoint,
  listInstallEndpoint,
  listHwidEndpoint,
  deleteHwidEndpoint,
];
