import { text } from '../readers.ts';
import { setting } from '../setting.ts';

export const tlsSettings = {
  tlsCertificate: setting({
    key: 'tls.certificate',
    env: 'GATEPOST_TLS_CERTIFICATE',
    default: '',
    read: text,
    about: [
      'A PEM file with the certificate and its chain.',
      'With it and `tls.key` Gatepost speaks HTTPS.',
      'A changed file is taken up in flight.',
    ],
  }),
  tlsKey: setting({
    key: 'tls.key',
    env: 'GATEPOST_TLS_KEY',
    default: '',
    read: text,
    about: ['The PEM file with the private key of the certificate.'],
  }),
} as const;
