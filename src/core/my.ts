/**
 * The page of a link for its user: the slots of the link, which the user may free. A name of the
 * link opens it. The answer does not reveal whether an unknown name has a link whose page is
 * closed.
 */

import { actAt } from './audit/entry.ts';
import { HOUR_MS } from './calendar.ts';
import type { Core } from './core.ts';
import { CUTS_OF_LINK_MAX, cutPlaceOf, USER_CUT_MS } from './cut-off.ts';
import { FullLinkRefused } from './door-refusals.ts';
import { isShortCode } from './formats.ts';
import { hostHash, hostName } from './host-name.ts';
import { type KeyReading, keyIn, readRequestPath } from './key-path.ts';
import { figuresOfMine, figuresProof, type MyFigures, namesSubscription } from './my-figures.ts';
import { findReferred, LINK_MINUTES, makeReference, type Signing } from './my-reference.ts';
import { isRefused, saving } from './outcome.ts';
import type { KeptRefusal } from './port/figure.ts';
import type { Link } from './port/link.ts';
import type { LinkDevice } from './port/link-view.ts';
import { after, type Maybe, settle } from './port/maybe.ts';
import type { FreeRefusal, MyLink, MyName, MySites } from './port/my.ts';
import type { Provider } from './port/provider.ts';
import { isActive } from './provider.ts';
import { subscriptionKeyHash } from './secret.ts';
import { codesAreKeys } from './secret-code.ts';
import { DEVICES_MAX } from './slot.ts';

/** The most characters of the text that opens a page. */
export const MY_TEXT_LENGTH_MAX = 1_024;

/** Returns true if the users of a provider have pages now. */
export const hasMy = (provider: Provider, nowMs: number): boolean =>
  provider.my === 1 && isActive(provider, nowMs);

/**
 * Returns the text that names a link on its page. A code under 12 characters can be guessed, so it
 * is looked up only within its provider.
 */
export const myNameOf = ({
  installCode,
  providerCode,
}: Pick<MyLink, 'installCode' | 'providerCode'>): string =>
  isShortCode(installCode) ? `${providerCode}.${installCode}` : installCode;

/**
 * Returns the address of a link's page for browsers; null: it has none, or the settings lack an
 * address.
 */
export function myUrlOf(
  { limits }: Pick<Core, 'limits'>,
  provider: Provider,
  link: Pick<Link, 'id' | 'installCode'>,
  nowMs: number,
): string | null {
  const { gateUpstreams, myPath, myUrl } = limits;
  const host = gateUpstreams.find((one) => one.provider === provider.code)?.host;
  const origin = myUrl === '' && host !== undefined ? `https://${host}` : myUrl;
  if (myPath === '' || origin === '' || !hasMy(provider, nowMs)) return null;
  const { code: providerCode, keyHash } = provider;
  const named = { installId: link.id, installCode: link.installCode, keyHash, providerCode };
  return `${origin}${myPath}?link=${pageNameOf({ limits }, named, nowMs)}`;
}

/**
 * Returns the name by which a link's page opens: its code, or if that is a secret a reference that
 * ends after a day.
 */
export function pageNameOf(
  core: Pick<Core, 'limits'>,
  link: Signing & Pick<MyLink, 'providerCode'>,
  nowMs: number,
): string {
  if (!codesAreKeys(core, link.providerCode)) return myNameOf(link);
  const id = link.installId.toString(36);
  return `~${id}.${makeReference(link, 'link', id, nowMs, LINK_MINUTES)}`;
}

/** The address of a link's page from the fetch of an admitted app. */
interface OfFetch {
  /** Returns the address for a link whose code is no secret; null: it has none. */
  plain: () => string | null;
  /** True: a code alone names the link there. */
  isByCode: boolean;
  /** True: the page shows figures of the subscription to the device, which has its own slot. */
  showsFigures: boolean;
  nowMs: number;
}

/**
 * Returns the address of the page for an app that a link admitted; null: it has none. The code is
 * in it only if that is no secret.
 */
export function myUrlOfLink(
  core: Pick<Core, 'limits' | 'store'>,
  { myPath }: Pick<MySites, 'myPath'>,
  origin: string,
  { installId, providerCode }: Pick<MyLink, 'installId' | 'providerCode'>,
  { plain, isByCode, showsFigures, nowMs }: OfFetch,
): Maybe<string | null> {
  const isSecret = codesAreKeys(core, providerCode);
  if (!isSecret && !(isByCode && showsFigures)) return plain();
  if (myPath === '' || origin === '') return null;
  const name = { installId, providerCode, domainHash: null };
  return after(core.store.findMy(name, nowMs), (link) => {
    if (link === null) return isSecret ? null : plain();
    const address = isSecret ? `${origin}${myPath}?link=${pageNameOf(core, link, nowMs)}` : plain();
    return address && showsFigures ? `${address}${figuresProof(link, nowMs)}` : address;
  });
}

/** Returns the address of the page of the first of these names that has one; null: none has. */
export async function myUrlOfNames(
  core: Pick<Core, 'limits' | 'store'>,
  settings: Pick<MySites, 'myPath'>,
  origin: string,
  names: readonly MyName[],
  nowMs: number,
): Promise<string | null> {
  for (const name of names) {
    const link = await core.store.findMy(name, nowMs);
    if (link === null) continue;
    const isShown = settings.myPath !== '' && origin !== '';
    if (!isShown || !codesAreKeys(core, link.providerCode)) return null;
    const proof = namesSubscription(name) ? figuresProof(link, nowMs) : '';
    return `${origin}${settings.myPath}?link=${pageNameOf(core, link, nowMs)}${proof}`;
  }
  return null;
}

/** Returns the address of the page for the address of a subscription. */
export function myUrlOfFetch(
  { myPath }: Pick<MySites, 'myPath'>,
  origin: string,
  { host, path, installCode }: { host: string; path: string; installCode: string | null },
): string | null {
  if (myPath === '' || origin === '') return null;
  const name = encodeURIComponent(installCode ?? `${host}${path}`).replaceAll('%2F', '/');
  return `${origin}${myPath}?link=${name}`;
}

/** How the paths of a host name links, and the provider of the links; null: any. */
export interface KeyPaths extends KeyReading {
  providerCode: string | null;
}

const NAMED = /[?&#](?:installid|link)=((?:[A-Za-z0-9]{8}\.)?[A-Za-z0-9]{8,12})(?:[&#]|$)/i;
/** {@link myNameOf} of a link. */
const NAME = /^(?:([A-Za-z0-9]{8})\.)?([A-Za-z0-9]{8,12})$/;

/** Splits a user's text that is, or has, the code of a link; null: it has none. */
const nameInText = (text: string) => NAME.exec(NAMED.exec(text)?.[1] ?? text);

/** Returns the code in a user's text; undefined: it has none. */
export const codeIn = (text: string): string | undefined =>
  text.length > MY_TEXT_LENGTH_MAX ? undefined : nameInText(text.trim())?.[2];

/** A reference to a link: its id, then that of my-reference.ts. */
const LINK_REFERENCE =
  /(?:^|[?&]link=)~([0-9a-z]{1,11})\.([0-9a-z]{1,9}\.[-_A-Za-z0-9]{16})(?:&|$)/;

/**
 * Reads the name of a link from a user's text: its code, the address of its subscription, or that
 * of its page. Returns null for another text, and for a token that only the panel could prove.
 */
export function readMyName(
  given: string,
  ofHost: (host: string) => KeyPaths,
  providerCode: string | null,
): MyName | null {
  const text = given.trim();
  if (text.length > MY_TEXT_LENGTH_MAX) return null;
  const [, id, signed] = LINK_REFERENCE.exec(text) ?? [];
  if (id !== undefined && signed !== undefined) {
    const installId = Number.parseInt(id, 36);
    return { installId, signed, providerCode, domainHash: null };
  }
  const named = nameInText(text);
  if (named !== null) {
    const [, ofProvider = providerCode, installCode = ''] = named;
    const isForeign = providerCode !== null && ofProvider !== providerCode;
    if (isForeign || (ofProvider === null && isShortCode(installCode))) return null;
    return { installCode, providerCode: ofProvider, domainHash: null };
  }
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `https://${text}`);
  const host = url === null ? null : hostName(url.host);
  const path = url === null ? null : readRequestPath(url.pathname);
  if (host === null || path === null) return null;
  const site = ofHost(host);
  const key = keyIn(site, path);
  if (key === null || isRefused(key) || !key.isProven) return null;
  return {
    subscriptionKeyHash: subscriptionKeyHash(key.key),
    providerCode: site.providerCode ?? providerCode,
    domainHash: hostHash(host),
  };
}

/** The subject of a reference: a slot with its device, which differs if the device comes back. */
const slotSubject = ({ hwid, registeredAtMs }: LinkDevice) => `${hwid} ${registeredAtMs}`;
const deviceSubject = ({ hwid }: { hwid: string }) => hwid;

/** Returns the reference by which a page identifies a device. */
export const thisReference = (link: Signing, hwid: string, nowMs: number): string =>
  makeReference(link, 'this', hwid, nowMs);

/**
 * Returns the address of the page for a device that a full link refused; for some minutes it
 * identifies the device. Null: another refusal, or the provider has no page.
 */
export function myUrlOfRefusal(
  { limits, store }: Pick<Core, 'limits' | 'store'>,
  { myPath }: Pick<MySites, 'myPath'>,
  refused: unknown,
  origin: string,
  nowMs: number,
): Maybe<string | null> {
  if (!(refused instanceof FullLinkRefused) || myPath === '' || origin === '') return null;
  const { hwid, link } = refused;
  // A fault must not hold back the refusal: it goes out without the address.
  return settle(
    () =>
      after(store.findProvider(link.providerCode), (provider) => {
        if (provider === null || !hasMy(provider, nowMs)) return null;
        return after(store.findLinkById(link.installId), (found) => {
          if (found === null) return null;
          const { id: installId, installCode } = found;
          const { keyHash } = provider;
          const signing = { installId, installCode, keyHash, providerCode: provider.code };
          const signed = hwid && thisReference(signing, hwid, nowMs);
          const name = pageNameOf({ limits }, signing, nowMs);
          return `${origin}${myPath}?link=${name}${signed ? `&this=${signed}` : ''}`;
        });
      }),
    () => null,
    (address) => address,
  );
}

/** A slot as its page shows it, without the HWID. */
export interface MyPlace extends Pick<LinkDevice, 'hwid' | 'os' | 'osVersion' | 'deviceName'> {
  lastSeenAtMs: number;
  /** True for the device from which the page was opened. */
  isThis: boolean;
  reference: string;
}

export interface OpenedMy {
  link: MyLink;
  places: MyPlace[];
  /** The refused device from which the page was opened; null: none. */
  waiting: { deviceName: string; os: string } | null;
  /** The time from which the next slot may be freed. */
  freeFromMs: number;
  /** True: the user may cut off the device that they free. */
  mayCut: boolean;
  /** The figures of the subscription; null: none, or the page was opened by a code alone. */
  figures: MyFigures | null;
}

/** Returns when the user of a link may free the next slot. */
export const freeFromMs = ({
  freedAtMs,
  coolDownHours,
}: Pick<MyLink, 'freedAtMs' | 'coolDownHours'>): number =>
  freedAtMs === null ? 0 : freedAtMs + coolDownHours * HOUR_MS;

/** Finds the link of a name with an open page; null: there is none, or a reference has ended. */
export const findMine = (
  { store }: Pick<Core, 'store'>,
  name: MyName,
  nowMs: number,
): Maybe<MyLink | null> =>
  after(store.findMy(name, nowMs), (link) => {
    if (link === null || !('signed' in name)) return link;
    const { signed = '' } = name;
    const subjectOf = ({ installId }: MyLink) => installId.toString(36);
    const of = { among: [link], subjectOf, nowMs, minutes: LINK_MINUTES };
    return findReferred(link, 'link', signed, of) ?? null;
  });

/** The parts of an address that open a page: the name of its link, and references. */
interface OpenedBy {
  name: MyName;
  /** Of a device; null: none. */
  reference: string | null;
  /** That the figures of the subscription may be shown; null: none. */
  proof: string | null;
}

/** Opens the page of a link; null: no link has the name, or it has no page. */
export function openMy(
  core: Core,
  { name, ...by }: OpenedBy,
  nowMs: number,
): Maybe<OpenedMy | null> {
  return after(findMine(core, name, nowMs), (link) =>
    link === null ? null : opened(core, link, { name, ...by }, nowMs),
  );
}

async function opened(
  core: Core,
  link: MyLink,
  { name, proof, reference }: OpenedBy,
  nowMs: number,
): Promise<OpenedMy> {
  const { store } = core;
  const { installId, providerId } = link;
  const devices = await store.listLinkDevices(providerId, installId, DEVICES_MAX);
  const referred = <T extends { hwid: string }>(among: readonly T[]) =>
    reference === null
      ? undefined
      : findReferred<T>(link, 'this', reference, { among, subjectOf: deviceSubject, nowMs });
  const known = referred(devices);
  const isAsked = known === undefined && reference !== null;
  const refused: KeptRefusal[] = isAsked ? await store.listRefused(installId) : [];
  const waiting = referred<KeptRefusal>(refused.filter(({ hwid }) => hwid !== ''));
  return {
    link,
    places: devices.map((device) => ({
      ...device,
      isThis: device === known,
      reference: makeReference(link, 'free', slotSubject(device), nowMs),
    })),
    waiting: waiting ?? null,
    freeFromMs: freeFromMs(link),
    mayCut: (await placeOfCut(core, link, nowMs))?.host != null,
    figures: await figuresOfMine(core, link, { name, proof }, nowMs),
  };
}

/** Finds the upstream at which the user of a link may cut it off now; null: they may not. */
async function placeOfCut(core: Core, link: MyLink, nowMs: number) {
  const { installId, myCutOff, providerId } = link;
  if (myCutOff === 0) return null;
  const page = { providerId, installId, isWaiting: false, beforeId: null };
  const cuts = await core.store.listCuts({ ...page, countMax: CUTS_OF_LINK_MAX });
  const last = cuts.find(({ isByUser }) => isByUser);
  if (last !== undefined && core.leastMs(nowMs) < last.askedAtMs + USER_CUT_MS) return null;
  const facts = await core.store.findCutFacts(providerId, { installCode: null, installId });
  return facts === null ? null : { ...cutPlaceOf(core, facts), keyHash: facts.keyHash };
}

/**
 * Frees the slot of a reference; `cuts`: cuts the link off, too. Returns the link with `ok` or a
 * refusal; null: the page does not exist, as in {@link openMy}.
 */
export async function freeMine(
  core: Core,
  name: MyName,
  reference: string,
  cuts: boolean,
  nowMs: number,
): Promise<{ link: MyLink; says: 'ok' | FreeRefusal } | null> {
  const link = await findMine(core, name, nowMs);
  if (link === null) return null;
  const { installId, providerId } = link;
  const among = await core.store.listLinkDevices(providerId, installId, DEVICES_MAX);
  const slot = findReferred(link, 'free', reference, { among, subjectOf: slotSubject, nowMs });
  if (slot === undefined) return { link, says: 'slot_gone' };
  const { hwid, registeredAtMs } = slot;
  const wanted = { installId, providerId, hwid, registeredAtMs };
  const place = cuts ? await placeOfCut(core, link, nowMs) : null;
  // The page offers it no more.
  if (cuts && (place === null || place.host === null)) return { link, says: 'cooling_down' };
  const cut = place && { ...place, installId, hwid, isByUser: true };
  const step = core.store.freeOwnSlot(wanted, actAt(core, nowMs), cut);
  if (cut === null) return { link, says: await step };
  // The users of the provider may have cut off too many within a minute.
  const says = await saving('cooling_down', step);
  return { link, says: isRefused(says) ? says.says : says };
}
