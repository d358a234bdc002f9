/**
 * Every setting in one row: its key in the file, its default with the reason, its reader and its
 * meaning. The loader, `gatepost config`, the example file and the documents are made from it.
 */

import type { Setting } from '../setting.ts';
import { acmeSettings } from './acme.ts';
import { auditSettings } from './audit.ts';
import { backupSettings } from './backup.ts';
import { consoleSettings } from './console.ts';
import { databaseSettings } from './database.ts';
import { gateSettings } from './gate.ts';
import { gatewaySettings } from './gateway.ts';
import { legacySettings } from './legacy.ts';
import { limitsSettings } from './limits.ts';
import { logSettings } from './log.ts';
import { monitorSettings } from './monitor.ts';
import { mySettings } from './my.ts';
import { outgoingSettings } from './outgoing.ts';
import { privacySettings } from './privacy.ts';
import { proxyProtocolSettings } from './proxy-protocol.ts';
import { rideSettings } from './ride.ts';
import { serverSettings } from './server.ts';
import { tlsSettings } from './tls.ts';
import { updateSettings } from './update.ts';
import { webhookSettings } from './webhook.ts';

export const SETTINGS = {
  ...serverSettings,
  ...proxyProtocolSettings,
  ...gateSettings,
  ...rideSettings,
  ...mySettings,
  ...consoleSettings,
  ...privacySettings,
  ...legacySettings,
  ...limitsSettings,
  ...databaseSettings,
  ...logSettings,
  ...monitorSettings,
  ...backupSettings,
  ...auditSettings,
  ...tlsSettings,
  ...acmeSettings,
  ...gatewaySettings,
  ...outgoingSettings,
  ...webhookSettings,
  ...updateSettings,
} as const;

export type SettingName = keyof typeof SETTINGS;

export type Config = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
};

/** The rows with their names, in the order of the documentation. */
export const settingRows = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];
