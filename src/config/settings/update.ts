import { baseUrl, publisherKey } from '../readers.ts';
import { live } from '../setting.ts';

export const updateSettings = {
  // No server is asked until the operator names one.
  updateUrl: live('update.url', '', (given) => (given === '' ? '' : baseUrl(given)), [
    "The address of a release's files, which a server asks for a newer version once a day, and",
    '`gatepost update --check` at once. Redirects are not followed. Empty: none is asked.',
  ]),
  updateKey: live('update.key', '', publisherKey, [
    "The publisher's public key, `ssh-ed25519 AAAA...`: a release that it did not sign is refused.",
  ]),
} as const;
