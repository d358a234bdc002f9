import { keyPaths } from '../readers.ts';
import { setting } from '../setting.ts';

export const gateSettings = {
  gateKeyPaths: setting({
    key: 'gate.key_paths',
    env: 'GATEPOST_GATE_KEY_PATHS',
    // Where most panels have their subscriptions.
    default: '/sub/{key}',
    types: ['array'],
    read: keyPaths,
    about: [
      'Where `/gate` finds the key of a subscription in the path that a proxy asks about, if its',
      'query names no link: `{key}` stands for one whole segment, the rest is compared without',
      'regard to case, and more may follow. The first that fits holds.',
    ],
    isLive: true,
  }),
} as const;
