/**
 * Every setting has one row: its key in the file, its variable, its default with the reason, how it
 * is read and what it means. The reader of the configuration, `gatepost config`, the example file
 * and the documentation are all made from this table.
 */

import type { Setting } from '../setting.ts';
import { acmeSettings } from './acme.ts';
import { auditSettings } from './audit.ts';
import { backupSettings } from './backup.ts';
import { databaseSettings } from './database.ts';
import { gateSettings } from './gate.ts';
import { gatewaySettings } from './gateway.ts';
import { limitsSettings } from './limits.ts';
import { logSettings } from './log.ts';
import { monitorSettings } from './monitor.ts';
import { outgoingSettings } from './outgoing.ts';
import { serverSettings } from './server.ts';
import { tlsSettings } from './tls.ts';
import { webhookSettings } from './webhook.ts';

export const SETTINGS = {
  ...serverSettings,
  ...gateSettings,
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
} as const;

export type SettingName = keyof typeof SETTINGS;

export type Config = {
  readonly [N in SettingName]: (typeof SETTINGS)[N] extends Setting<infer T> ? T : never;
};

/** The rows with their names, in the order of the documentation. */
export const settingRows = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][];
