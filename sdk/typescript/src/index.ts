/** A device of Gatepost, for apps in TypeScript and JavaScript. */

export { Device } from './device.ts';
export { type Discovered, discover, subscriptionHeaders } from './discovery.ts';
export type { FaultWord } from './fault.ts';
export { COMMAND, type Message, NOTIFICATION, plainText, type Texts, textsOf } from './message.ts';
export type {
  DeviceOptions,
  DeviceState,
  Ending,
  Handled,
  HandledLater,
  Handling,
  Why,
} from './options.ts';
export type { AckState, PushAddress, Store } from './state.ts';
export { browserStore, fileStore } from './stores.ts';
