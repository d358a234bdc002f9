/** The five packets of MQTT 3.1.1 that the bench needs. */

const CONNECT = 0x10;
const PUBLISH_QOS_1 = 0x32;
const PUBLISH = 0x30;
const PUBACK = 0x40;
const SUBSCRIBE = 0x82;
/** Time without a ping, longer than the bench. */
const KEEP_ALIVE_S = 3600;

const short = (value: number) => [value >> 8, value & 0xff];

function text(value: string): number[] {
  const bytes = [...new TextEncoder().encode(value)];
  return [...short(bytes.length), ...bytes];
}

/** Bodies here are shorter than 128 bytes, so their length is one byte. */
const packet = (type: number, body: number[]) => Uint8Array.from([type, body.length, ...body]);

export const connectPacket = (name: string) =>
  packet(CONNECT, [...text('MQTT'), 4, 2, ...short(KEEP_ALIVE_S), ...text(name)]);

/** Subscribes with QoS 1: each message is acknowledged. */
export const subscribePacket = (topic: string) => packet(SUBSCRIBE, [0, 1, ...text(topic), 1]);

export const publishPacket = (topic: string, body: string) =>
  packet(PUBLISH_QOS_1, [...text(topic), 0, 1, ...new TextEncoder().encode(body)]);

interface Packet {
  /** True for a message, false for an acknowledgement. */
  isMessage: boolean;
  /** Answer to a message. */
  acknowledgement: Uint8Array;
}

/** Reads the whole packets at the beginning of `bytes`; `rest` is what follows them. */
export function packetsOf(bytes: Uint8Array): { packets: Packet[]; rest: Uint8Array } {
  const packets: Packet[] = [];
  let at = 0;
  while (at + 2 <= bytes.length) {
    const length = bytes[at + 1] ?? 0;
    if (at + 2 + length > bytes.length) break;
    const isMessage = ((bytes[at] ?? 0) & 0xf0) === PUBLISH;
    const topicLength = ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    const idAt = at + 4 + topicLength;
    const acknowledgement = packet(PUBACK, [...bytes.slice(idAt, idAt + 2)]);
    packets.push({ isMessage, acknowledgement });
    at += 2 + length;
  }
  return { packets, rest: bytes.slice(at) };
}
