import { text } from '../readers.ts';
import { setting } from '../setting.ts';

export const tlsSettings = {
  tlsCertificate: setting('tls.certificate', '', text, [
    'A PEM file with the certificate and its chain.',
    'Together with `tls.key` it enables HTTPS.',
    'A changed file takes effect without a restart.',
  ]),
  tlsKey: setting('tls.key', '', text, ['The PEM file with the private key of the certificate.']),
} as const;
