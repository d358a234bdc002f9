import { array, certificateNames, httpUrl, integer, oneOf, text } from '../readers.ts';
import { setting } from '../setting.ts';

export const acmeSettings = {
  acmeDomains: setting('acme.domains', '', array(certificateNames), [
    'Host names and IP addresses for which a certificate is obtained by ACME.',
    'Setting it accepts the terms of the certificate authority.',
  ]),
  acmeEmail: setting('acme.email', '', text, [
    'The mail address to which the authority may write.',
    'Optional.',
  ]),
  acmeDirectory: setting(
    'acme.directory',
    'https://acme-v02.api.letsencrypt.org/directory',
    httpUrl,
    ['The directory of the ACME server.'],
  ),
  acmeProfile: setting('acme.profile', '', text, [
    'The profile of the certificate, such as `shortlived`.',
    'Empty: the one of the authority, and `shortlived` for IP addresses where it is offered.',
  ]),
  acmeChallenge: setting('acme.challenge', 'http-01', oneOf('http-01', 'dns-01'), [
    'How the names are proved: `http-01` or `dns-01`.',
  ]),
  // The port that the authority calls; another one only behind a port forwarding.
  acmeHttpPort: setting('acme.http_port', '80', integer(0, 65_535), [
    'The port on which `http-01` is answered.',
  ]),
  acmeDnsHook: setting('acme.dns_hook', '', text, [
    'The program that adds and removes TXT records for `dns-01`.',
  ]),
  acmeEabKid: setting('acme.eab_kid', '', text, [
    'The key identifier of the account at an authority that requires external account binding.',
  ]),
  acmeEabKey: {
    ...setting('acme.eab_key', '', text, ['The HMAC key of that account.']),
    isSecret: true,
  },
} as const;
