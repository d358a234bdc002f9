/** The cases of `conformance/`, embedded in the program. */

import access from '../../conformance/access.json';
import apps from '../../conformance/apps.json';
import commands from '../../conformance/commands.json';
import devices from '../../conformance/devices.json';
import domains from '../../conformance/domains.json';
import given from '../../conformance/given.json';
import hwids from '../../conformance/hwids.json';
import links from '../../conformance/links.json';
import notifications from '../../conformance/notifications.json';
import { type Case, casesOf } from './case.ts';
import type { CaseFile } from './format.ts';

type Files = Readonly<Record<string, CaseFile>>;

/** TypeScript gives each file its own type; a test checks them against the form. */
export const FILES = {
  access,
  links,
  hwids,
  domains,
  notifications,
  commands,
  apps,
  devices,
} as unknown as Files;
export const GIVEN = given as unknown as CaseFile;

let known: readonly Case[] | null = null;

/** Returns all cases, made at the first call, because every command loads this file. */
export function allCases(): readonly Case[] {
  known ??= Object.values(FILES).flatMap((file) => casesOf(file, GIVEN));
  return known;
}

export const RECORDS = GIVEN.records ?? {};
