/** A message that another page began, for the form of messages. */

interface Draft {
  body: string;
  /** HWIDs, with commas. */
  hwids: string;
}

let begun: Draft | null = null;

/** Keeps a message for the form, which is opened next. */
export function beginMessage(draft: Draft): void {
  begun = draft;
}

/** Takes the message that was begun; null: none was. */
export function takeDraft(): Draft | null {
  const draft = begun;
  begun = null;
  return draft;
}
