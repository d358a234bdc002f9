/** Pushes: what of a message travels through a gateway, the same for all of them. */

/** A message as a gateway shows it, in the device's language. */
export interface PushContent {
  /** The distribution's id: the same in every copy and every attempt. */
  id: number;
  /** A command is silent: it makes the app fetch its inbox. */
  kind: 'notification' | 'command';
  title: string | null;
  /** Plain text. */
  body: string | null;
  link: string | null;
  image: string | null;
  /** `force` of a notification: high priority and sound. */
  isUrgent: boolean;
  /** Time after which nobody needs it, UTC ms. */
  expiresAtMs: number;
  /** The whole message as the inbox has it, as JSON, if the operator lets it travel; else null. */
  inboxMessage: string | null;
}
