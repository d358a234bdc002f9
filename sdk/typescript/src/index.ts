/** A device of Gatepost, for apps in TypeScript and JavaScript. */

export {
  Device,
  type DeviceOptions,
  type Ending,
  type Handled,
  type Handling,
} from './device.ts';
export { COMMAND, type Message, NOTIFICATION, plainText, type Texts, textsOf } from './message.ts';
export type { AckState, PushAddress, Store } from './state.ts';
