/**
 * Reads from the facts of a call what tells phones apart: the family of the system, the app and the
 * model. What is said in a form that two apps or networks may change is left out.
 */

import { appOf } from './app/find.ts';
import type { App } from './app/record.ts';
import { tidyFacts } from './device.ts';
import { areTwoFamilies, type Sighting } from './phones.ts';
import type { DeviceFacts } from './port/device.ts';
import type { PhoneDoor } from './port/phone.ts';

/** Families by the first word of the name of a system. Others are unknown. */
const FAMILIES: readonly (readonly [string, RegExp])[] = [
  ['ios', /^(?:ios|ipados|iphone|ipad)(?![a-z])/],
  ['android', /^android(?![a-z])/],
  ['windows', /^(?:microsoft )?(?:windows|win32|win64)(?![a-z])/],
  ['macos', /^(?:mac ?os|osx|os x|macintosh)(?![a-z])/],
  ['tvos', /^(?:tvos|apple ?tv)(?![a-z])/],
  ['openwrt', /^(?:openwrt|immortalwrt)(?![a-z])/],
  ['linux', /^(?:gnu\/)?(?:linux|ubuntu|debian|fedora|arch linux|manjaro)(?![a-z])/],
];

/** Words that apps send for a model that they do not know, or that says no more than the family. */
const NO_MODEL: ReadonlySet<string> = new Set(
  (
    'unknown unknowndevice неопределено genericpc null nil undefined none na generic default ' +
    'device model test emulator ' +
    'iphone ipad ipod ipodtouch mac macbook imac appletv simulator iphonesimulator ' +
    'android androiddevice phone tablet smartphone tv androidtv mobile ' +
    'windows windowspc windowsdevice win32 win64 pc desktop laptop computer notebook workstation ' +
    'linux linuxpc linuxdevice openwrt router server macos darwin ios ipados ' +
    'x86 x8664 x64 amd64 arm64 aarch64 armv7 armv7l armv8 localhost ' +
    'systemproductname systemmanufacturer tobefilledbyoem defaultstring oem'
  ).split(' '),
);

/** The name of a system with its edition, which some apps send as the model. */
const NAMES_VERSION = /\bwindows\b/;

/** Makers that some apps put before the model. */
const MAKERS =
  'apple asus blackview google honor htc huawei infinix itel lenovo lg lge meizu motorola nokia ' +
  'nothing nubia oneplus oppo poco realme redmi samsung sharp sony tcl tecno vivo xiaomi zte';
const MAKER = new RegExp(`^(?:${MAKERS.replaceAll(' ', '|')})[\\s_/-]+(?=\\S)`);

const APPLE_IDENTIFIER =
  /^(?:iphone|ipad|ipod|mac|macbookair|macbookpro|macmini|macpro|imac|imacpro|appletv)\d+,\d+$/;

/**
 * Returns the traits of the phone in a call. `hashModel` is keyed: a model is one of few thousand.
 */
export function sightingOf(
  door: PhoneDoor | '',
  reported: DeviceFacts,
  hashModel: (model: string) => string,
): Sighting {
  const { os, deviceName, userAgent } = tidyFacts(reported);
  const known = appOf(userAgent);
  const said = familyIn(os);
  const shown = familyOfAgent(known, userAgent);
  // `change-user-agent` gives an app the name of one for another system.
  const isDisguised = said !== '' && shown !== '' && areTwoFamilies(said, shown);
  const app = isDisguised || known === null ? '' : known.name;
  const family = said || shown;
  const version = /^[^/]*\/v?(\d[^\s/]*)/.exec(userAgent)?.[1] ?? '';
  return { door, family, app, version, modelHash: hashOf(deviceName, family, hashModel) };
}

/** Returns the family of a system by its name; empty: unknown. */
function familyIn(os: string): string {
  const name = os.toLowerCase().replaceAll('_', ' ');
  return FAMILIES.find(([, pattern]) => pattern.test(name))?.[0] ?? '';
}

/** Returns the family that a `User-Agent` shows, for apps that have it there and in no header. */
function familyOfAgent(app: App | null, userAgent: string): string {
  if (app === null) return '';
  return app.system ?? familyIn(app.systemInAgent?.exec(userAgent)?.[1] ?? '');
}

/**
 * Returns the hash of a model without its maker and spelling; empty: it says too little. The name
 * of a computer is no model where a network may change it.
 */
function hashOf(deviceName: string, family: string, hashModel: (model: string) => string): string {
  const name = deviceName.normalize('NFKC').toLowerCase().trim();
  const isIdentifier = APPLE_IDENTIFIER.test(name);
  if ((family === 'macos' && !isIdentifier) || family === 'linux') return '';
  const bare = name.replace(MAKER, '').replace(MAKER, '');
  const model = bare.replace(/[^\p{L}\p{N}]+/gu, '');
  if (model.length < 2 || NO_MODEL.has(model) || NAMES_VERSION.test(name)) return '';
  return isIdentifier ? `i:${hashModel(model)}` : hashModel(model);
}
