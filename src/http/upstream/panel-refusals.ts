/**
 * The refusals of each panel, so that apps made for a panel show its messages. Taken from the
 * sources that core/panel/limit.ts names.
 */

import type { PanelKind } from '../../core/panel/kind.ts';
import type { GateReason } from '../gate/texts.ts';

interface PanelRefusal {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The body; null: a subscription with one server whose name is the reason. */
  body: string | null;
}

const TRUE = 'true';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Remnawave answers with servers whose names are the reason; v2rayTUN reads `x-hwid-limit`. */
function remnawave(reason: GateReason): PanelRefusal {
  const isDenied = reason === 'hwid_required' || reason === 'link_limit_reached';
  if (!isDenied) return { status: 404, headers: {}, body: '' };
  return { status: 200, headers: { 'x-hwid-limit': TRUE }, body: null };
}

const NOT_FOUND: PanelRefusal = { status: 404, headers: {}, body: '' };

/** 3x-ui answers with a status and headers. */
const threeXUi = () => NOT_FOUND;

/** PasarGuard has no headers about HWIDs: its apps show the detail. */
function pasarguard(reason: GateReason): PanelRefusal {
  const [status, detail] = DETAILS[reason];
  return { status, headers: JSON_TYPE, body: JSON.stringify({ detail }) };
}

const DETAILS: Readonly<Record<GateReason, readonly [status: number, detail: string]>> = {
  hwid_required: [403, 'HWID header required'],
  link_limit_reached: [403, 'Device limit reached'],
  link_not_found: [404, 'Not Found'],
  link_disabled: [404, 'Not Found'],
};

const REFUSALS: Readonly<Record<PanelKind, (reason: GateReason) => PanelRefusal>> = {
  remnawave,
  '3x-ui': threeXUi,
  pasarguard,
  // Neither knows devices: its apps see an address that does not exist.
  marzban: () => NOT_FOUND,
  hiddify: () => NOT_FOUND,
};

/** Returns the refusal of a panel for a reason. */
export const panelRefusal = (panel: PanelKind, reason: GateReason): PanelRefusal =>
  REFUSALS[panel](reason);
