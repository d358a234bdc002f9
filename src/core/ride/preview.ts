/** What each app would show of a message or do by it, for those who write one. */

import type { DistributionType } from '../port/distribution.ts';
import { APPS, type App } from './app.ts';
import { PROVIDER_ID_HEADER, type Riding, rideHeaders } from './headers.ts';
import { partsOf, type RidingPayload } from './parts.ts';
import type { RidingTerms } from './ways.ts';

/** The operator's terms: see `RideTo`. */
type PreviewTerms = Pick<RidingTerms, 'hasProviderId' | 'hosts'>;

/** What an answer to an app would carry. */
export interface Shown {
  /** A locale of the form; null: its own texts, or a command. */
  locale: string | null;
  /** Without the Provider ID, which is a secret. */
  headers: Readonly<Record<string, string>>;
  /** The text that the user sees; null: a command, or the app shows none. */
  text: string | null;
}

export interface Preview {
  /** Null: an app that is not known. */
  app: string | null;
  /** Empty: nothing of the message rides to it. */
  shown: readonly Shown[];
}

/** Stands for the Provider ID, and is dropped again. */
const SOME_ID = 'preview';

/** Returns what each app of the table would get at its next fetch, then an unknown one. */
export function previewsOf(
  notificationType: DistributionType,
  payload: RidingPayload,
  terms: PreviewTerms,
): Preview[] {
  const rides = partsOf(notificationType, payload).map((part): Riding => {
    return { distributionId: 0, part, payload, phase: 'rides' };
  });
  const locales = 'action_type' in payload ? [] : Object.keys(payload.locales ?? {});
  return [...APPS, null].map((app) => {
    const all = [null, ...locales].map((locale) => shownIn(app, rides, locale, terms));
    return { app: app?.name ?? null, shown: all.flatMap((shown) => shown ?? []) };
  });
}

function shownIn(
  app: App | null,
  rides: readonly Riding[],
  locale: string | null,
  { hasProviderId, hosts }: PreviewTerms,
): Shown | null {
  const languages = locale === null ? [] : [locale];
  const to = { app, languages, hosts, providerId: hasProviderId ? SOME_ID : null };
  const { headers, announceText, carried } = rideHeaders(rides, to);
  const { [PROVIDER_ID_HEADER]: _, ...shown } = headers;
  return carried.length === 0 ? null : { locale, headers: shown, text: announceText };
}
