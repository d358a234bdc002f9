/** `gatepost device …`: the known devices. */

import type { Command } from 'commander';
import { counted } from '../core/counted.ts';
import { namesOfHwid, osName } from '../core/device.ts';
import { FACT_FIELDS } from '../core/device-facts.ts';
import { inSnakeCase, only } from '../core/field.ts';
import type { Device, DeviceDetail, DeviceFacts } from '../core/port/device.ts';
import { DOMAIN_ACTIVE } from '../core/port/domain.ts';
import { type ConfirmOptions, confirm } from './confirm.ts';
import { type CliContext, type CommonOptions, print, printTable, withCore } from './context.ts';
import { addDeviceCheckCommand } from './device-check.ts';
import { addLimit, countMaxOf, type LimitOptions, noteRest } from './limit.ts';
import { findLink, type LinkName, linkNameValue } from './link-name.ts';
import { make } from './make.ts';
import { codeOf } from './provider-name.ts';
import { granted, refusal } from './refusal.ts';
import { addSimulateCommand } from './simulate.ts';
import { sheet, table } from './table.ts';
import { hwidValue, providerCodeValue, showTime, showTimeOrNull } from './values.ts';

interface ListOptions extends CommonOptions, LimitOptions {
  provider?: string;
  link?: LinkName;
  os?: string;
}

function view(device: Device) {
  return {
    hwid: device.hwid,
    ...inSnakeCase(only<DeviceFacts, keyof DeviceFacts>(device, FACT_FIELDS)),
    first_seen_at: showTime(device.firstSeenAtMs),
    last_seen_at: showTime(device.lastSeenAtMs),
  };
}

function detailView({ device, installs, domains, seenBy, tokens }: DeviceDetail) {
  return {
    ...view(device),
    links: installs.map((link) => ({
      install_code: link.installCode,
      provider_code: link.providerCode,
      registered_at: showTime(link.registeredAtMs),
      last_seen_at: showTime(link.lastSeenAtMs),
    })),
    domains: domains.map((domain) => ({
      domain_name: domain.domainName,
      provider_code: domain.providerCode,
      active: domain.status === DOMAIN_ACTIVE,
      linked_at: showTime(domain.linkedAtMs),
    })),
    seen_by: seenBy.map((seen) => ({
      provider_code: seen.providerCode,
      last_seen_at: showTime(seen.lastSeenAtMs),
    })),
    registrations: tokens.map(({ locale, gateway, dropped }) => ({
      locale,
      push: gateway,
      push_dropped_at: showTimeOrNull(dropped?.atMs ?? null),
      push_dropped_why: dropped?.why ?? null,
    })),
  };
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const { link, os } = options;
  const countMax = countMaxOf(options);
  const { devices, count } = await withCore(context, options, async (core) => {
    const installCode = link === undefined ? null : (await findLink(core, link)).installCode;
    const providerCode = await codeOf(core, options);
    const filter = { providerCode, installCode, os: os === undefined ? null : osName(os) };
    return {
      devices: await core.store.listDevices({ ...filter, countMax }),
      count: await core.store.countDevices(filter),
    };
  });
  printTable(context, options, devices.map(view), {
    HWID: 'hwid',
    OS: 'os',
    VERSION: 'os_version',
    NAME: 'device_name',
    APP: 'app_version',
    'LAST SEEN': 'last_seen_at',
  });
  noteRest(context, devices.length, count, 'device');
}

async function show(context: CliContext, hwid: string, options: CommonOptions): Promise<void> {
  const found = await withCore(context, options, (core) => core.store.findDevice(hwid));
  if (found === null) throw refusal('device_not_found', hwid);
  const { links, domains, seen_by: seenBy, registrations, ...facts } = detailView(found);
  const parts = [
    sheet(facts),
    table(links, {
      LINK: 'install_code',
      PROVIDER: 'provider_code',
      SINCE: 'registered_at',
      'LAST SEEN': 'last_seen_at',
    }),
    table(domains, {
      DOMAIN: 'domain_name',
      PROVIDER: 'provider_code',
      ACTIVE: ({ active }) => String(active),
      SINCE: 'linked_at',
    }),
    table(seenBy, { 'SEEN BY': 'provider_code', LAST: 'last_seen_at' }),
    table(registrations, {
      'PUSHED BY': ({ push }) => push ?? 'none',
      LOCALE: ({ locale }) => locale ?? '',
      'DROPPED AT': ({ push_dropped_at: at }) => at ?? '',
      WHY: ({ push_dropped_why: why }) => why ?? '',
    }),
  ];
  if (links.length === 0) parts[1] = 'It is on no link.';
  const isFilled = [true, true, domains.length > 0, seenBy.length > 0, registrations.length > 0];
  const text = parts.filter((_, n) => isFilled[n]).join('\n\n');
  print(context, options, detailView(found), text);
}

async function forget(context: CliContext, hwid: string, options: ConfirmOptions): Promise<void> {
  const forgotten = await withCore(context, options, async (core) => {
    const found = await core.store.findDevice(hwid);
    const refusals = await core.store.countRefusals(hwid);
    const others = (await namesOfHwid(core, hwid)).slice(0, -1);
    if (found === null && refusals === 0 && others.length === 0) {
      throw refusal('device_not_found', hwid);
    }
    const rest = [`its refusals by ${counted(refusals, 'link')}`, ...others].join(', and ');
    const deed = found === null ? `Forget ${hwid}, which no device has:` : deedOf(found);
    await confirm(context, options, `${deed} ${rest}`);
    return make('devices.forget', { core, nowMs: context.nowMs() }, { hwid });
  });
  granted(forgotten, hwid);
  print(context, options, { hwid, done: 'forgotten' }, `${hwid} forgotten; its slots are free`);
}

function deedOf({ device, installs, domains }: DeviceDetail): string {
  const name = device.deviceName === '' ? '' : ` (${device.deviceName})`;
  const links = counted(installs.length, 'link');
  const bound = counted(domains.length, 'domain');
  return `Forget ${device.hwid}${name}, its slots on ${links}, ${bound}, its messages and receipts, and`;
}

export function addDeviceCommands(program: Command, context: CliContext): void {
  const device = program.command('device').description('show, forget and simulate devices');

  const listing = device
    .command('list')
    .description('list devices, the last seen first')
    .option('--provider <code>', 'only on its links or seen by it', providerCodeValue)
    .option('--link <link>', 'only on this limited link', linkNameValue)
    .option('--os <name>', 'only with this operating system, such as ios or Windows');
  addLimit(listing).action((options: ListOptions) => list(context, options));

  device
    .command('show')
    .description('show a device with its links, domains and registrations')
    .argument('<hwid>', '', hwidValue)
    .action((hwid: string, options: CommonOptions) => show(context, hwid, options));

  addForgetCommand(device, context);

  addSimulateCommand(device, context);
  addDeviceCheckCommand(device, context);
}

/** Adds `forget`, both below `device` and as its own command. */
export function addForgetCommand(parent: Command, context: CliContext): void {
  parent
    .command('forget')
    .description(
      'erase a HWID: device, slots, messages, receipts and refusals; the audit log keeps an entry',
    )
    .argument('<hwid>', '', hwidValue)
    .option('--yes', 'do not ask for confirmation')
    .action((hwid: string, options: ConfirmOptions) => forget(context, hwid, options));
}
