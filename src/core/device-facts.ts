/**
 * The facts that a device reports about itself, one row each: columns, parameters, headers, files
 * and lists derive from here. Their order is that of columns and files.
 */

import type { DeviceFacts } from './port/device.ts';

interface FactRow {
  /** Its name in queries. */
  readonly parameter: string;
  readonly header: string;
  /** Its description in the document of the API. */
  readonly about: string;
  readonly example?: string;
  /** Its names in `X-Device-Info`, compared without case, `-`, `_`, blanks and a leading `x-`. */
  readonly older: readonly string[];
  /** Whether a registration for messages has it. */
  readonly registers: boolean;
}

export const DEVICE_FACTS = {
  os: {
    parameter: 'os_name',
    header: 'x-device-os',
    about: 'the operating system',
    example: 'Android',
    older: ['os', 'osname', 'deviceos', 'platform', 'system'],
    registers: true,
  },
  osVersion: {
    parameter: 'os_version',
    header: 'x-ver-os',
    about: 'the version of the operating system',
    older: ['osversion', 'osver', 'veros', 'systemversion'],
    registers: true,
  },
  deviceName: {
    parameter: 'device_model',
    header: 'x-device-model',
    about: 'the model of the device',
    example: 'Pixel 9',
    older: ['devicemodel', 'model', 'devicename', 'device'],
    registers: true,
  },
  appVersion: {
    parameter: 'app_version',
    header: 'x-app-version',
    about: 'the version of the app',
    older: ['appversion', 'appver'],
    registers: true,
  },
  userAgent: {
    parameter: 'user_agent',
    header: 'user-agent',
    about: 'the name of the app',
    older: ['useragent', 'appname', 'app'],
    registers: false,
  },
} as const satisfies { readonly [F in keyof DeviceFacts]: FactRow };

type Rows = typeof DEVICE_FACTS;

/** The facts of a registration for messages. */
export type RegisteredFact = {
  [F in keyof Rows]: Rows[F]['registers'] extends true ? F : never;
}[keyof Rows];

export const FACT_FIELDS = Object.keys(DEVICE_FACTS) as (keyof DeviceFacts)[];

export const REGISTERED_FACTS = FACT_FIELDS.filter(
  (fact): fact is RegisteredFact => DEVICE_FACTS[fact].registers,
);

/** Facts of which none was reported. */
export const NO_FACTS = Object.fromEntries(FACT_FIELDS.map((fact) => [fact, ''])) as Readonly<
  Record<keyof DeviceFacts, string>
>;

/**
 * Makes facts of a value for each. Calls that every known device makes write theirs out instead: a
 * loop costs 5 % of such a call (`make bench BENCH=compare`). A hole there does not compile.
 */
export function factsOf(get: (fact: keyof DeviceFacts) => string): DeviceFacts {
  const facts = { ...NO_FACTS };
  for (const fact of FACT_FIELDS) facts[fact] = get(fact);
  return facts;
}
