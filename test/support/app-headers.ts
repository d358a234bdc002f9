/**
 * What apps send with a request for a subscription, as their sources, their documents and records
 * of such requests by others have it; read on 2026-11-29. Facts alone; HWIDs are left out. `null`:
 * the app sends no such header. In `model`, `{…}` stands for what differs by device.
 */

export interface AppHeaders {
  readonly app: string;
  readonly userAgent: string;
  readonly os: string | null;
  readonly osVersion: string | null;
  readonly model: string | null;
  readonly appVersion: string | null;
  /** The kind of value in `model`. */
  readonly modelIs: 'code' | 'name' | 'identifier' | 'host' | 'edition' | 'fixed' | null;
  readonly source: string;
}

type Row = Omit<AppHeaders, 'source'>;

const row = (
  [app, userAgent]: [string, string],
  [os, osVersion, model, modelIs]: [Row['os'], Row['osVersion'], Row['model'], Row['modelIs']],
  appVersion: string | null,
  source: string,
): AppHeaders => ({ app, userAgent, os, osVersion, model, modelIs, appVersion, source });

const NONE: [null, null, null, null] = [null, null, null, null];

const HAPP_RECORDS =
  'records of requests in public tests of bots and panels: "Happ/3.16.1/Android/1743595" with 23049PCD8G, "Happ/2.6.0/Windows/2603201341504" with Home-PC_x86_64, "Happ/5.6.0/ios/2608171408651"';
const TUN_RECORDS =
  'records of requests in public tests of panels: v2raytun/ios with "iPhone 14 Pro Max", 26.4, 2.4.4; v2raytun/windows with "PC | Windows 10 Pro", 3.8.12; v2raytun/android, 5.25.80';
const INCY_DOCS =
  'INCY-DEV/incy-docs ru/dev-docs/hwid.en.md for the names of headers; records "INCY/3.4.3/android Dalvik/2.1.0", "INCY/2.3.4/ios CFNetwork/1410.1 Darwin/22.6.0"';
const FLCLASHX =
  'records "FlClash X/v0.3.2 Platform/windows" with Windows 11 Pro, "… Platform/android"; forks read manufacturer and model by device_info_plus';
const KOALA = 'coolcoala/koala-clash 5a0e6b3 (2026-01-27): src-tauri/src/utils/sys_info.rs';
const PRIZRAK =
  'legiz-ru/Prizrak-Box d94e39c (2025-10-27): src-go/pkg/utils/httpclient.go, device_details_*.go';
const PRIZRAK_ANDROID =
  'a public Kotlin source of its Android app: "Clash-Meta/Prizrak-Box (Android Build …)", Build.MODEL';
const FORK =
  'a public fork of FlClash with HWIDs: iosInfo.model, windowsInfo.computerName, linuxInfo.prettyName';
const KARING =
  'KaringX/karing issues 1296 and 1641 (2026-06-15: on iOS always "iPhone"); records of its agent';
const PASSWALL =
  'Openwrt-Passwall/openwrt-passwall e33d57c (2026-02-01): root/usr/share/passwall/subscribe.lua:1594';
const THRONE = 'records "Throne/1.2.1" with x-device-os; throneproj/Throne GroupUpdater.cpp';
const HIDDIFY =
  'records "HiddifyNext/4.1.1 (android) like ClashMeta v2ray sing-box"; issue 1844: no HWID';

export const APP_HEADERS: readonly AppHeaders[] = [
  row(
    ['Happ', 'Happ/3.16.1/Android/1743595'],
    ['Android', '15', '{23049PCD8G}', 'code'],
    '3.16.1',
    HAPP_RECORDS,
  ),
  row(
    ['Happ', 'Happ/5.6.0/ios/2608171408651'],
    ['iOS', '18.6', '{iPhone 13 Pro}', 'name'],
    '5.6.0',
    HAPP_RECORDS,
  ),
  row(
    ['Happ', 'Happ/2.6.0/Windows/2603201341504'],
    ['Windows', '11_10.0.26200', '{Home-PC}_x86_64', 'host'],
    '2.6.0',
    HAPP_RECORDS,
  ),
  row(
    ['Happ', 'Happ/2.6.0/macOS/2603201341504'],
    ['macOS', '15.3', '{MacBook-Pro}_arm64', 'host'],
    '2.6.0',
    'as on Windows: the name of the computer and the processor',
  ),
  row(
    ['v2RayTun', 'v2raytun/ios'],
    ['iOS', '26.4', '{iPhone 14 Pro Max}', 'name'],
    '2.4.4',
    TUN_RECORDS,
  ),
  row(
    ['v2RayTun', 'v2raytun/android'],
    ['Android', 'Android 34', '{SM-S918B}', 'code'],
    '5.25.80',
    TUN_RECORDS,
  ),
  row(
    ['v2RayTun', 'v2raytun/windows'],
    ['Windows', 'Windows 10 Pro | 22H2', 'PC | Windows 10 Pro', 'edition'],
    '3.8.12',
    TUN_RECORDS,
  ),
  row(
    ['INCY', 'INCY/3.4.3/android Dalvik/2.1.0'],
    ['Android', '14', '{Pixel 8}', 'code'],
    '3.4.3',
    INCY_DOCS,
  ),
  row(
    ['INCY', 'INCY/2.3.4/ios CFNetwork/1410.1 Darwin/22.6.0'],
    ['iOS', '18.3', '{iPhone15,2}', 'identifier'],
    '2.3.4',
    INCY_DOCS,
  ),
  row(
    ['FlClashX', 'FlClash X/v0.3.2 Platform/android'],
    ['Android', '15', 'Xiaomi {2412DPC0AG}', 'code'],
    null,
    FLCLASHX,
  ),
  row(
    ['FlClashX', 'FlClash X/v0.3.2 Platform/windows'],
    ['Windows', '25H2', 'Windows 11 Pro', 'edition'],
    null,
    FLCLASHX,
  ),
  row(
    ['Koala Clash', 'koala-clash/v1.3.1'],
    ['Windows', '24H2', 'Windows 10 Pro', 'edition'],
    null,
    KOALA,
  ),
  row(
    ['Koala Clash', 'koala-clash/v1.3.1'],
    ['macOS', '15.3', '{MacBookPro18,3}', 'identifier'],
    null,
    KOALA,
  ),
  row(['Koala Clash', 'koala-clash/v1.3.1'], ['Linux', '24.04', 'Ubuntu', 'edition'], null, KOALA),
  row(['Prizrak-Box', 'prizrak-box/1.0.1'], ['Windows', '11', '{82JU}', 'code'], null, PRIZRAK),
  row(
    ['Prizrak-Box', 'Clash-Meta/Prizrak-Box (Android Build 1.0.21)'],
    ['Android', '15', '{SM-A546E}', 'code'],
    null,
    PRIZRAK_ANDROID,
  ),
  row(['FlClash', 'FlClash/v0.8.90'], ['Android', '14', 'samsung {SM-S921B}', 'code'], null, FORK),
  row(['FlClash', 'FlClash/v0.8.90'], ['iOS', '18.1', 'iPhone', 'fixed'], null, FORK),
  row(
    ['FlClash', 'FlClash/v0.8.90'],
    ['Windows', '10.0.26100', '{DESKTOP-7Q}', 'host'],
    null,
    FORK,
  ),
  row(
    ['FlClash', 'FlClash/v0.8.90'],
    ['Linux', '24.04', 'Ubuntu 24.04.1 LTS', 'edition'],
    null,
    FORK,
  ),
  row(['Karing', 'karing/1.2.18.2102 ios'], ['iOS', '26.5', 'iPhone', 'fixed'], null, KARING),
  row(
    ['Karing', 'Karing/1.2.22.2502 Android'],
    ['Android', '14', '{CPH2449}', 'code'],
    null,
    KARING,
  ),
  row(['Throne', 'Throne/1.2.1'], ['Windows', '10.0.26100', null, null], null, THRONE),
  row(
    ['PassWall', 'passwall/26.2.1'],
    ['OpenWrt', '23.05.5', '{Xiaomi Mi Router AX3000T}', 'name'],
    null,
    PASSWALL,
  ),
  row(
    ['FlClash', 'FlClash/v0.8.92 clash-verge Platform/android'],
    NONE,
    null,
    'chen08209/FlClash 62addf7 (2026-08-17): lib/common/package.dart',
  ),
  row(
    ['FlClash', 'FlClash/v0.8.92 clash-verge Platform/windows'],
    NONE,
    null,
    'chen08209/FlClash 62addf7 (2026-08-17): lib/common/package.dart',
  ),
  row(
    ['FlClash', 'FlClash/v0.8.92 clash-verge Platform/macos'],
    NONE,
    null,
    'chen08209/FlClash 62addf7 (2026-08-17): lib/common/package.dart',
  ),
  row(
    ['v2rayNG', 'v2rayNG/1.10.31'],
    NONE,
    null,
    '2dust/v2rayNG 63f5572 (2026-08-21): util/HttpUtil.kt:155; x-hwid is typed',
  ),
  row(['v2rayN', 'v2rayN/7.24.4'], NONE, null, 'records of its agent; x-hwid is typed'),
  row(
    ['Clash Meta for Android', 'ClashMetaForAndroid/2.11.31.Meta'],
    NONE,
    null,
    'records of its agent',
  ),
  row(
    ['Hiddify', 'HiddifyNext/4.1.1 (android) like ClashMeta v2ray sing-box'],
    NONE,
    null,
    HIDDIFY,
  ),
  row(
    ['sing-box', 'SFA/1.12.12 (575; sing-box 1.12.12; language zh_Hant_HK)'],
    NONE,
    null,
    'records of its agent',
  ),
  // Tools that take the headers of an app: all their users look the same.
  row(
    ['a tool as Happ', 'Happ/3.13.0'],
    ['Android', '15', 'ELP-NX1', 'fixed'],
    null,
    'several public tools in Python and Rust, with one HWID for all',
  ),
];
