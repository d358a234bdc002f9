import { hostNames, httpUrl, integer, oneOf, text } from '../readers.ts';
import { setting } from '../setting.ts';

export const acmeSettings = {
  acmeDomains: setting({
    key: 'acme.domains',
    env: 'GATEPOST_ACME_DOMAINS',
    default: '',
    types: ['array'],
    read: hostNames,
    about: [
      'Host names for which certificates are obtained by ACME.',
      'To set it is to agree to the terms of the certificate authority.',
    ],
  }),
  acmeEmail: setting({
    key: 'acme.email',
    env: 'GATEPOST_ACME_EMAIL',
    default: '',
    read: text,
    about: ['The mail address to which the authority may write.', 'Optional.'],
  }),
  acmeDirectory: setting({
    key: 'acme.directory',
    env: 'GATEPOST_ACME_DIRECTORY',
    default: 'https://acme-v02.api.letsencrypt.org/directory',
    read: httpUrl,
    about: ['The directory of the ACME server.'],
  }),
  acmeChallenge: setting({
    key: 'acme.challenge',
    env: 'GATEPOST_ACME_CHALLENGE',
    default: 'http-01',
    read: oneOf<'http-01' | 'dns-01'>('http-01', 'dns-01'),
    about: ['How the host names are proved: `http-01` or `dns-01`.'],
  }),
  acmeHttpPort: setting({
    key: 'acme.http_port',
    env: 'GATEPOST_ACME_HTTP_PORT',
    // The port that the authority asks; another one only behind a forwarding.
    default: '80',
    ...integer(0, 65_535),
    about: ['The port on which `http-01` is answered.'],
  }),
  acmeDnsHook: setting({
    key: 'acme.dns_hook',
    env: 'GATEPOST_ACME_DNS_HOOK',
    default: '',
    read: text,
    about: ['The program that puts up and takes down TXT records for `dns-01`.'],
  }),
  acmeEabKid: setting({
    key: 'acme.eab_kid',
    env: 'GATEPOST_ACME_EAB_KID',
    default: '',
    read: text,
    about: [
      'The account at an authority that demands external account binding: its key identifier.',
    ],
  }),
  acmeEabKey: setting({
    key: 'acme.eab_key',
    env: 'GATEPOST_ACME_EAB_KEY',
    default: '',
    read: text,
    about: ['The HMAC key of that account, as the authority gave it out.'],
    isSecret: true,
  }),
} as const;
