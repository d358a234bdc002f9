/** A QR code, drawn as one path: `innerHTML` is not allowed here, nor needed. */

import { encode } from 'uqr';

const pathOf = (data: readonly (readonly boolean[])[]) =>
  data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');

export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border: 2 });
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label}>
      <path d={pathOf(data)} />
    </svg>
  );
}

/** Returns the code as an SVG file, by its address. */
export function qrSvg(text: string): string {
  const { data, size } = encode(text, { border: 2 });
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}">` +
    `<rect width="${size}" height="${size}" fill="#fff"/><path d="${pathOf(data)}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Pixels of each square. */
const SCALE = 12;

/** Returns the code as a PNG file, by its address. */
export function qrPng(text: string): string {
  const { data, size } = encode(text, { border: 2 });
  const canvas = document.createElement('canvas');
  canvas.width = size * SCALE;
  canvas.height = size * SCALE;
  const ground = canvas.getContext('2d');
  if (ground === null) return '';
  ground.fillStyle = '#fff';
  ground.fillRect(0, 0, canvas.width, canvas.height);
  ground.fillStyle = '#000';
  for (const [y, row] of data.entries()) {
    for (const [x, isDark] of row.entries()) {
      if (isDark) ground.fillRect(x * SCALE, y * SCALE, SCALE, SCALE);
    }
  }
  return canvas.toDataURL('image/png');
}
