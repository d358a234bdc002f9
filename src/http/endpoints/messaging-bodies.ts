/** Bodies that devices send, as schemas for the documents: see `remote-bodies.ts`. */

import { Type } from '@sinclair/typebox';
import { DOMAIN_HASH, HWID, INSTALL_CODE, PROVIDER_CODE } from '../../core/formats.ts';
import { LOCALE, PUSH_TOKEN_BYTES_MAX } from '../../core/message/device-input.ts';
import { ACK_COUNT_MAX } from '../../core/message/inbox.ts';
import { ACK_STATES } from '../../core/port/inbox.ts';
import {
  CODE_EXAMPLE,
  choice,
  forms,
  HASH_EXAMPLE,
  HWID_EXAMPLE,
  PROVIDER_EXAMPLE,
  text,
} from './params.ts';

const ofItself = (what: string, example: string) =>
  Type.Optional(text(`${what}, as the app calls it; cut to 128 characters.`, example));

const PushAddress = Type.Unsafe<unknown>({
  title: 'PushAddress',
  description: `A faster way to the same inbox; at most ${PUSH_TOKEN_BYTES_MAX} bytes of text.`,
  oneOf: [
    Type.Object({
      gateway: choice(['fcm', 'apns']),
      token: Type.String({ minLength: 1, maxLength: PUSH_TOKEN_BYTES_MAX }),
    }),
    Type.Object({
      gateway: Type.Literal('webpush'),
      token: Type.Object(
        { endpoint: Type.String({ minLength: 1 }) },
        {
          description:
            'The standard subscription object: `endpoint`, `expirationTime`, and `p256dh` and `auth` in `keys`; nothing else in it is kept.',
        },
      ),
    }),
  ],
});

/** `POST /device/register`. */
export const RegistrationInput = Type.Object(
  {
    hwid: Type.RegExp(HWID.pattern, { examples: [HWID_EXAMPLE] }),
    os: Type.Optional(
      text('`android`, `ios` or another name: what is sent by os goes by it.', 'android'),
    ),
    os_version: ofItself('The version of the operating system', '16'),
    device_name: ofItself('The model', 'Pixel 9'),
    app_version: ofItself('The version of the app', '1.0'),
    locale: Type.Optional(
      Type.RegExp(LOCALE, { description: 'A language tag such as `pt-BR`.', examples: ['en'] }),
    ),
    install_code: Type.Optional(
      Type.RegExp(INSTALL_CODE.pattern, {
        description: 'With `domain_hash`: links the device, and takes a slot, as `/install` does.',
        examples: [CODE_EXAMPLE],
      }),
    ),
    provider_code: Type.Optional(
      Type.RegExp(PROVIDER_CODE.pattern, {
        description:
          'With `domain_hash`: links the device as `/provider` does; not looked at beside `install_code`.',
        examples: [PROVIDER_EXAMPLE],
      }),
    ),
    domain_hash: Type.Optional(Type.RegExp(DOMAIN_HASH.pattern, { examples: [HASH_EXAMPLE] })),
    push: Type.Optional(PushAddress),
  },
  {
    title: 'RegistrationInput',
    dependentRequired: { install_code: ['domain_hash'] },
    examples: [
      {
        hwid: HWID_EXAMPLE,
        os: 'android',
        install_code: CODE_EXAMPLE,
        domain_hash: HASH_EXAMPLE,
      },
    ],
  },
);

/** `POST /device/ack`, and the frames of a stream. */
export const AckInput = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          id: { ...forms.id.schema, description: 'The id of a message.', examples: [1] },
          state: choice(
            ACK_STATES,
            '`received`: it is there. `opened`: the user opened it. `executed`: it was carried out. `failed`: it could not be.',
          ),
          detail: Type.Optional(
            text('Why it failed, one line of up to 255 characters.', 'no room'),
          ),
        },
        { title: 'Acknowledgement' },
      ),
      { minItems: 1, maxItems: ACK_COUNT_MAX },
    ),
  },
  {
    title: 'AckInput',
    examples: [
      {
        items: [
          { id: 1, state: 'opened' },
          { id: 2, state: 'executed' },
        ],
      },
    ],
  },
);
