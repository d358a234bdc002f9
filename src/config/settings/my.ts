import { baseUrl } from '../readers.ts';
import { live } from '../setting.ts';

/** First segments that the server uses itself. */
const TAKEN = ['api', 'console', 'device', 'docs', 'gate', 'install', 'provider', 'remote'];

/** A path of one segment, or nothing. */
function pagePath(given: string): string {
  const name = /^\/([A-Za-z0-9_-]{1,32})$/.exec(given)?.[1]?.toLowerCase();
  if (given === '' || (name !== undefined && !TAKEN.includes(name))) return given;
  throw new RangeError(`'${given}' is not a path such as /my, or is a path of the program`);
}

export const mySettings = {
  // Providers decide: the page of each is off by default.
  myPath: live('my.path', '/my', pagePath, [
    'The path of the page where users see the devices of their link and free a place, for the',
    'providers that have switched it on (`gatepost provider set --page on`). On the hosts of their',
    'upstreams the path is reserved. Empty: no provider has it.',
  ]),
  myUrl: live('my.url', '', (given: string) => (given === '' ? '' : baseUrl(given)), [
    'The URL of this server for the browsers of users, without the path, such as',
    '`https://gatepost.example.org`. It stands in what apps and chats show. Empty: only',
    'subscriptions through upstreams name the page, by their own host.',
  ]),
} as const;
