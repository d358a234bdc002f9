/** The push of a reminder that says nothing. */

import { expect, test } from 'bun:test';
import { neutralPush } from '../../../src/core/message/neutral-push.ts';

test('the neutral text is in the language of the message where the phone names none', () => {
  const message = {
    id: 1,
    providerId: 1,
    notificationType: 10 as const,
    createdAtMs: 0,
    expiresAtMs: 1,
    payload: { body: 'Осталось 2 дня', type_push: 'optional', expire_days: 2 },
  };
  expect(neutralPush(message, null)).toMatchObject({ body: 'Есть новое сообщение' });
});
