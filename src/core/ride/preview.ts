/** The preview of a message in each app, for its author. */

import type { App } from '../app/record.ts';
import { APPS } from '../app/table.ts';
import type { DistributionType } from '../port/distribution.ts';
import { PROVIDER_ID_HEADER, type Riding, rideHeaders } from './headers.ts';
import { partsOf, type RidingPayload } from './parts.ts';
import type { RidingTerms } from './ways.ts';

/** The operator's terms: see `RideTo`. */
type PreviewTerms = Pick<RidingTerms, 'hasProviderId' | 'hosts'>;

/** The headers of an answer to an app. */
export interface Shown {
  /** The locale of the texts; null: the general texts, or a command. */
  locale: string | null;
  /** The headers without the Provider ID, which is a secret. */
  headers: Readonly<Record<string, string>>;
  /** The text that the user sees; null: a command, or the app shows none. */
  text: string | null;
}

export interface Preview {
  /** The app; null: one of which no source says what it shows. */
  app: string | null;
  /** Empty: no part of the message rides to the app. */
  shown: readonly Shown[];
}

/** A value in place of the Provider ID; it is removed again. */
const SOME_ID = 'preview';

/** Returns what each known app would get at its next fetch, and any other. */
export function previewsOf(
  notificationType: DistributionType,
  payload: RidingPayload,
  terms: PreviewTerms,
): Preview[] {
  const rides = partsOf(notificationType, payload).map((part): Riding => {
    return { distributionId: 0, part, payload, phase: 'rides' };
  });
  const locales = 'action_type' in payload ? [] : Object.keys(payload.locales ?? {});
  return [...APPS.filter(({ isKnown }) => isKnown), null].map((app) => {
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
