/** Finds the app of a `User-Agent`. */

import { UNKNOWN_READS } from './make.ts';
import type { App, AppHeader } from './record.ts';
import { APPS } from './table.ts';

/** Returns the app by the first characters of its `User-Agent`, in any case; null: unknown. */
export function appOf(userAgent: string | null | undefined): App | null {
  const agent = (userAgent ?? '').trim().toLowerCase();
  const isOf = ({ agentHas, agents }: App) =>
    agents.some((start) => agent.startsWith(start)) &&
    (agentHas === null || agent.includes(agentHas));
  return APPS.find(isOf) ?? null;
}

/** Returns the app of a `User-Agent` if a source says what it shows; null: none does. */
export function knownAppOf(userAgent: string): App | null {
  const app = appOf(userAgent);
  return app?.isKnown ? app : null;
}

/**
 * Returns the name of the app of a `User-Agent`; null: unknown.
 *
 * @example appNameOf('Happ/3.2 iOS') // 'Happ'
 */
export const appNameOf = (userAgent: string): string | null => appOf(userAgent)?.name ?? null;

/** Returns the headers that an app reads; null: an unknown app. */
export const headersReadBy = (app: App | null): readonly AppHeader[] => app?.reads ?? UNKNOWN_READS;
