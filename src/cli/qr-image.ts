/** A QR code as lines for a terminal, as SVG and as PNG. */

import { crc32, deflateSync } from 'node:zlib';
import { encode, renderSVG, renderUnicodeCompact } from 'uqr';

/** Low error correction, raised as far as the size allows, and the margin of the standard. */
const OPTIONS = { ecc: 'L', boostEcc: true, border: 4 } as const;

/** Pixels of a module: a sharp print of the size of a card. */
const SCALE = 8;

/** Returns the lines of the QR code, two modules high each. */
export function qrLines(text: string): string[] {
  return renderUnicodeCompact(text, OPTIONS).split('\n');
}

export function qrSvg(text: string): string {
  return renderSVG(text, OPTIONS);
}

/** Returns a part of a PNG: length, kind, contents, checksum. */
function chunk(kind: string, contents: Uint8Array): Buffer {
  const part = Buffer.alloc(12 + contents.length);
  part.writeUInt32BE(contents.length, 0);
  part.write(kind, 4, 'latin1');
  part.set(contents, 8);
  part.writeUInt32BE(crc32(part.subarray(4, 8 + contents.length)), 8 + contents.length);
  return part;
}

/** Returns a PNG with one bit a pixel, 1 for white. */
export function qrPng(text: string): Uint8Array {
  const { data, size } = encode(text, OPTIONS);
  const width = size * SCALE;
  const rowBytes = 1 + Math.ceil(width / 8);
  const pixels = Buffer.alloc(rowBytes * width);
  for (let y = 0; y < width; y++) {
    for (let x = 0; x < width; x++) {
      const isDark = data[Math.floor(y / SCALE)]?.[Math.floor(x / SCALE)];
      const at = y * rowBytes + 1 + (x >> 3);
      if (!isDark) pixels[at] = (pixels[at] ?? 0) | (0x80 >> (x & 7));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(width, 4);
  // One bit for each pixel, grey; the other fields have their only values.
  header[8] = 1;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', new Uint8Array()),
  ]);
}
