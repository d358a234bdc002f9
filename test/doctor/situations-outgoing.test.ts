/** Situations of what goes out: webhooks, chats and gateways. Rows as in situations.test.ts. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { type Scene, type Situation, testSituations } from '../support/situation.ts';

const CLOSED =
  'Telegram answered 400: the topic is closed: open it again, or let the bot manage topics';

function run({ dataDir }: Scene, text: string, ...values: (string | number | null)[]): void {
  const db = new Database(join(dataDir, 'gatepost.db'));
  db.run(text, values);
  db.close();
}

/** Adds a chat that was disabled, of a provider or (null) of the operator. */
const chat = (scene: Scene, providerId: number | null, why: string) =>
  run(
    scene,
    `INSERT INTO webhook (provider_id, kind, address, events, scheme, secret, locale,
       created_at_ms, disabled_at_ms, disabled_why) VALUES (?, 'telegram', '-1', '', '', 's', 'en',
       1, 1, ?)`,
    providerId,
    why,
  );

const SITUATIONS: readonly Situation[] = [
  {
    situation: "the operator's chat takes no more messages",
    says: ['PROBLEM webhook_disabled'],
    words: `the operator's Telegram chat, webhook 1 is disabled: ${CLOSED}`,
    todo: /^mend that, then 'gatepost webhook set 1 --enable'/,
    make: (scene) => chat(scene, null, CLOSED),
  },
  {
    situation: 'chats of a provider take no more messages',
    says: ['warning provider_webhooks_disabled'],
    todo: /gatepost webhook list --provider/,
    make: (scene) => {
      chat(scene, 1, 'Telegram answered 403: the user has blocked the bot');
      chat(scene, 1, CLOSED);
    },
  },
  {
    situation: 'a chat was disabled by its owner',
    says: [],
    make: (scene) => chat(scene, null, 'its owner disabled it'),
  },
  {
    situation: 'pushes wait for a gateway that is not set up any more',
    says: ['warning gateway_not_set_up'],
    words: '3 pushes wait for fcm, which is not set up',
    make: (scene) =>
      run(scene, `INSERT INTO destination (kind, origin, waiting_count) VALUES ('fcm', '', 3)`),
  },
];

testSituations(SITUATIONS);
