/**
 * Reads from the facts of a call what tells phones apart: the family of the system, the app and the
 * model. What is said in a form that two apps or networks may change is left out.
 */

import { type AppName, appNameOf } from './app-agent.ts';
import { tidyFacts } from './device.ts';
import type { PhoneDoor, Sighting } from './phones.ts';
import type { DeviceFacts } from './port/device.ts';

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

/** The one family of an app, by the first characters of its `User-Agent`. */
const ONE_FAMILY: readonly (readonly [string, string])[] = [
  ['v2rayng/', 'android'],
  ['clashmetaforandroid/', 'android'],
  ['sfa/', 'android'],
  ['sfi/', 'ios'],
  ['sfm/', 'macos'],
  ['sft/', 'tvos'],
  ['passwall', 'openwrt'],
];

/** Apps that name the system in their `User-Agent`, and the words for it. */
const NAMES_SYSTEM: ReadonlySet<AppName | null> = new Set<AppName>([
  ...(['Happ', 'INCY', 'FlClashX', 'FlClash', 'Koala Clash', 'Karing', 'Hiddify'] as const),
]);

/** Words that apps send for a model that they do not know, or that says no more than the family. */
const NO_MODEL: ReadonlySet<string> = new Set(
  (
    'unknown unknowndevice null nil undefined none na generic default device model test emulator ' +
    'iphone ipad ipod ipodtouch mac macbook imac appletv simulator iphonesimulator ' +
    'android androiddevice phone tablet smartphone tv androidtv mobile ' +
    'windows windowspc windowsdevice win32 win64 pc desktop laptop computer notebook workstation ' +
    'linux linuxpc linuxdevice openwrt router server macos darwin ios ipados ' +
    'x86 x8664 x64 amd64 arm64 aarch64 armv7 armv7l armv8 localhost ' +
    'systemproductname systemmanufacturer tobefilledbyoem defaultstring oem'
  ).split(' '),
);

/** Makers that some apps put before the model. */
const MAKER =
  /^(?:apple|asus|blackview|google|honor|htc|huawei|infinix|itel|lenovo|lge?|meizu|motorola|nokia|nothing|nubia|oneplus|oppo|poco|realme|redmi|samsung|sharp|sony|tcl|tecno|vivo|xiaomi|zte)[\s_/-]+(?=\S)/;

const APPLE_IDENTIFIER =
  /^(?:iphone|ipad|ipod|mac|macbookair|macbookpro|macmini|macpro|imac|imacpro|appletv)\d+,\d+$/;

/**
 * Returns the traits of the phone in a call. `hashModel` is keyed: a model is one of few thousand.
 */
export function sightingOf(
  door: PhoneDoor,
  reported: DeviceFacts,
  hashModel: (model: string) => string,
): Sighting {
  const { os, deviceName, userAgent } = tidyFacts(reported);
  const said = familyIn(os);
  const shown = familyOfAgent(userAgent);
  // An app for another system has the name only: `change-user-agent` gave it.
  const isDisguised = said !== '' && shown !== '' && said !== shown;
  const app = isDisguised ? '' : (appNameOf(userAgent) ?? '');
  const version = /^[^/]*\/\s*v?([^\s/]+)/.exec(userAgent)?.[1] ?? '';
  return { door, family: said || shown, app, version, modelHash: hashOf(deviceName, hashModel) };
}

/** Returns the family of a system by its name; empty: unknown. */
function familyIn(os: string): string {
  const name = os.toLowerCase().replaceAll('_', ' ');
  return FAMILIES.find(([, pattern]) => pattern.test(name))?.[0] ?? '';
}

function familyOfAgent(userAgent: string): string {
  const agent = userAgent.trim().toLowerCase();
  const only = ONE_FAMILY.find(([start]) => agent.startsWith(start))?.[1];
  if (only !== undefined) return only;
  if (!NAMES_SYSTEM.has(appNameOf(agent))) return '';
  const named = /\b(android|ios|windows|macos|linux)\b/.exec(agent)?.[1];
  return named ?? '';
}

/** Returns the hash of a model without its maker and spelling; empty: it says too little. */
function hashOf(deviceName: string, hashModel: (model: string) => string): string {
  const name = deviceName.normalize('NFKC').toLowerCase().trim();
  const bare = name.replace(MAKER, '').replace(MAKER, '');
  const model = bare.replace(/[^\p{L}\p{N}]+/gu, '');
  if (model.length < 2 || NO_MODEL.has(model)) return '';
  return APPLE_IDENTIFIER.test(name) ? `i:${hashModel(model)}` : hashModel(model);
}
