// Reads a QR code as a phone's camera does, from the blocks that a terminal shows: finds its patterns, undoes the mask,
// checks every block's error correction (a scanner would repair; here nothing may be wrong) and reads the bytes.
import assert from 'node:assert/strict';

// Lines of full and half blocks; light is drawn, as on a dark terminal. Answers rows of booleans, true: dark.
export function modules_of(text) {
  const lines = text.split('\n').filter((line) => /^[ █▀▄]{20,}$/.test(line) && line.includes('█'));
  const rows = lines.flatMap((line) => [[...line].map((c) => c !== '█' && c !== '▀'), [...line].map((c) => c !== '█' && c !== '▄')]);
  const quiet = 4;
  const size = lines[0].length - 2 * quiet;
  for (const row of [...rows.slice(0, quiet), ...rows.slice(quiet + size, 2 * quiet + size)])
    assert.ok(row.every((dark) => !dark), 'the quiet zone is light');
  return rows.slice(quiet, quiet + size).map((row) => row.slice(quiet, quiet + size));
}

const exp = [];
const log = [];
for (let i = 0, x = 1; i < 255; i++) {
  exp[i] = x;
  log[x] = i;
  x = x << 1 ^ (x & 0x80 ? 0x11d : 0);
}
// Zero for every root of the generator: nothing is wrong in the block.
const syndrome = (block, root) => block.reduce((sum, byte) => (sum === 0 ? 0 : exp[(log[sum] + root) % 255]) ^ byte, 0);

const masks = [
  (x, y) => (x + y) % 2,
  (x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3),
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2,
];
// By version, error correction M: blocks, check bytes of each, alignment.
const shapes = { 2: [1, 16, [6, 18]], 3: [1, 26, [6, 22]], 4: [2, 18, [6, 26]], 5: [2, 24, [6, 30]], 6: [4, 16, [6, 34]] };

export function read_qr(modules) {
  const size = modules.length;
  const version = (size - 17) / 4;
  const shape = shapes[version];
  assert.ok(shape, `a version that this reads: ${version}`);
  const [blocks, check, alignment] = shape;
  const near = (a, b, far) => Math.abs(a - b) <= far;
  for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]])
    for (let y = cy - 3; y <= cy + 3; y++)
      for (let x = cx - 3; x <= cx + 3; x++) assert.equal(modules[y][x], Math.max(Math.abs(x - cx), Math.abs(y - cy)) !== 2, 'a finder');
  let format = 0;
  for (let i = 0; i < 15; i++) {
    const [x, y] = i < 6 ? [8, i] : i < 8 ? [8, i + 1] : i === 8 ? [7, 8] : [14 - i, 8];
    format |= Number(modules[y][x]) << i;
  }
  format ^= 0x5412;
  assert.equal(format >> 13, 0, 'error correction M');
  const mask = masks[(format >> 10) & 7];
  const last = alignment.at(-1);
  const fixed = (x, y) =>
    x === 6 || y === 6 || (x < 9 && y < 9) || (x >= size - 8 && y < 9) || (x < 9 && y >= size - 8) ||
    (near(x, last, 2) && near(y, last, 2));
  const bits = [];
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const up = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step++)
      for (const x of [right, right - 1]) {
        const y = up ? size - 1 - step : step;
        if (!fixed(x, y)) bits.push(modules[y][x] !== (mask(x, y) === 0));
      }
  }
  const codewords = Array.from({ length: Math.floor(bits.length / 8) }, (_, i) => bits.slice(i * 8, i * 8 + 8).reduce((byte, bit) => byte * 2 + Number(bit), 0));
  const data_size = codewords.length - blocks * check;
  const sizes = Array.from({ length: blocks }, (_, i) => Math.floor(data_size / blocks) + (i >= blocks - (data_size % blocks) ? 1 : 0));
  const parts = sizes.map(() => []);
  let at = 0;
  for (let i = 0; i < Math.max(...sizes); i++) for (let b = 0; b < blocks; b++) if (i < sizes[b]) parts[b].push(codewords[at++]);
  const data = parts.flat();
  for (let i = 0; i < check; i++) for (let b = 0; b < blocks; b++) parts[b].push(codewords[at++]);
  for (const part of parts) for (let root = 0; root < check; root++) assert.equal(syndrome(part, root), 0, 'nothing is to be repaired');
  assert.equal(data[0] >> 4, 4, 'bytes');
  const length = ((data[0] & 15) << 4) | (data[1] >> 4);
  const bytes = Array.from({ length }, (_, i) => ((data[i + 1] & 15) << 4) | (data[i + 2] >> 4));
  return Buffer.from(bytes).toString();
}
