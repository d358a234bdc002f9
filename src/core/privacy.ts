/** The facts of devices and subscriptions that `privacy.keep` of the operator keeps. */

import type { Core } from './core.ts';
import type { DeviceFacts } from './port/device.ts';

/** The name of an app with its version, or its first word, at the start of a `User-Agent`. */
const APP_AND_VERSION = /^(?:[^/(;,]{1,32}\/(?:v?\d[\w.]*)?|\S{1,32})/;

/** Returns facts without the model; some apps have it in their `User-Agent` too. */
export const withoutModel = (facts: DeviceFacts): DeviceFacts => ({
  ...facts,
  deviceName: '',
  userAgent: APP_AND_VERSION.exec(facts.userAgent)?.[0] ?? '',
});

/** Returns facts without those that `privacy.keep` does not keep. */
export const withoutPrivate = (
  { limits }: Pick<Core, 'limits'>,
  facts: DeviceFacts,
): DeviceFacts => (limits.privacyKeep === 'less' ? withoutModel(facts) : facts);

/** Returns whether the phones that send one HWID are distinguished. */
export const keepsPhones = ({ limits }: Pick<Core, 'limits'>): boolean =>
  limits.privacyKeep !== 'less';

/** Returns whether figures of subscriptions are kept, for providers that want them. */
export const keepsFigures = ({ limits }: Pick<Core, 'limits'>): boolean =>
  limits.privacyKeep !== 'less';
