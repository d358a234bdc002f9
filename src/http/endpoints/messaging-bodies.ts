/** Bodies of devices, as schemas for the documents: see `remote-bodies.ts`. */

import { type TSchema, Type } from '@sinclair/typebox';
import type { RegisteredFact } from '../../core/device-facts.ts';
import type { Snake } from '../../core/field.ts';
import { DOMAIN_HASH, HWID, INSTALL_CODE, PROVIDER_CODE } from '../../core/formats.ts';
import { LOCALE } from '../../core/message/device-input.ts';
import { ACK_COUNT_MAX } from '../../core/message/inbox.ts';
import { APNS_TOKEN, PUSH_TOKEN_BYTES_MAX } from '../../core/message/push-address.ts';
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
  Type.Optional(text(`${what}, as the app names it; cut to 128 characters.`, example));

/** The sender of RFC 8291, appendix A. */
export const PUSH_KEY_EXAMPLE =
  'BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8';

const SUBSCRIPTION_EXAMPLE = {
  endpoint: 'https://push.example/6qDl-qvIqPWVCh0u',
  keys: {
    // The receiver of RFC 8291, appendix A.
    p256dh:
      'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
};

const WebPushSubscription = Type.Object(
  {
    endpoint: Type.RegExp(/^https:\/\//, {
      format: 'uri',
      description: 'An `https` URL on the public Internet, or any URL that the operator allows.',
    }),
    keys: Type.Object(
      {
        p256dh: Type.String({
          contentEncoding: 'base64url',
          contentMediaType: 'application/octet-stream',
          description: 'A point of P-256, uncompressed: 65 bytes in base64url.',
        }),
        auth: Type.RegExp(/^[A-Za-z0-9_-]{22}$/, { description: '16 bytes in base64url.' }),
      },
      { title: 'WebPushKeys' },
    ),
  },
  {
    title: 'WebPushSubscription',
    description:
      'The standard subscription object: `endpoint`, `expirationTime`, and `p256dh` and `auth` in `keys`; nothing else in it is stored.',
    examples: [SUBSCRIPTION_EXAMPLE],
  },
);

// Each part has a title, and so a name of its own in generated clients.
const PushAddress = Type.Unsafe<unknown>({
  title: 'PushAddress',
  description: `A faster way to the same inbox; at most ${PUSH_TOKEN_BYTES_MAX} bytes of text.`,
  oneOf: [
    Type.Object(
      {
        gateway: Type.Literal('fcm'),
        token: Type.String({ minLength: 1, maxLength: PUSH_TOKEN_BYTES_MAX }),
      },
      { title: 'FcmAddress' },
    ),
    Type.Object(
      {
        gateway: Type.Literal('apns'),
        token: Type.RegExp(APNS_TOKEN, { description: 'In hexadecimal digits.' }),
      },
      { title: 'ApnsAddress' },
    ),
    Type.Object(
      { gateway: Type.Literal('webpush'), token: WebPushSubscription },
      { title: 'WebPushAddress' },
    ),
  ],
});

/** The facts of a registration. */
const FACTS = {
  os: Type.Optional(
    text('`android`, `ios` or another name: messages by os select devices by it.', 'android'),
  ),
  os_version: ofItself('The version of the operating system', '16'),
  device_name: ofItself('The model', 'Pixel 9'),
  app_version: ofItself('The version of the app', '1.0'),
} satisfies { [F in RegisteredFact as Snake<F>]: TSchema };

/** `POST /device/register`. */
export const RegistrationInput = Type.Object(
  {
    hwid: Type.RegExp(HWID.pattern, { examples: [HWID_EXAMPLE] }),
    ...FACTS,
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
          'With `domain_hash`: links the device as `/provider` does; ignored beside `install_code`.',
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
            '`received`: it arrived. `opened`: the user opened it. `executed`: the command was executed. `failed`: it could not be.',
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
