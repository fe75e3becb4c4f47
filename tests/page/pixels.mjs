// What a screenshot shows, in numbers.
import { inflateSync } from 'node:zlib';

// Width, height and the bytes (three or four a pixel) of a PNG of 8 bits without interlacing, as browsers write it.
function decode(png) {
  let at = 8;
  let width = 0, height = 0, channels = 4;
  const packed = [];
  while (at < png.length) {
    const count = png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + count);
    if (kind === 'IHDR') [width, height, channels] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 2 ? 3 : 4];
    if (kind === 'IDAT') packed.push(data);
    at += 12 + count;
  }
  return { width, height, channels, rows: inflateSync(Buffer.concat(packed)) };
}

// Undoes the filters of the rows (PNG specification, section 9).
function unfilter({ width, height, channels, rows }) {
  const stride = width * channels;
  const pixels = Buffer.alloc(stride * height);
  for (let y = 0; y < height; ++y) {
    const filter = rows[y * (stride + 1)];
    for (let i = 0; i < stride; ++i) {
      const left = i >= channels ? pixels[y * stride + i - channels] : 0;
      const up = y > 0 ? pixels[(y - 1) * stride + i] : 0;
      const corner = i >= channels && y > 0 ? pixels[(y - 1) * stride + i - channels] : 0;
      pixels[y * stride + i] = rows[y * (stride + 1) + 1 + i] + predicted(filter, left, up, corner);
    }
  }
  return pixels;
}

function predicted(filter, left, up, corner) {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - corner;
  const [a, b, c] = [left, up, corner].map((one) => Math.abs(guess - one));
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

// {width, height, deviation: of the grey values, colours: how many different ones}
export function measure(png) {
  const image = decode(png);
  const pixels = unfilter(image);
  const colours = new Set();
  let sum = 0, squares = 0;
  const count = image.width * image.height;
  for (let i = 0; i < count; ++i) {
    const at = i * image.channels;
    const grey = (pixels[at] + pixels[at + 1] + pixels[at + 2]) / 3;
    sum += grey;
    squares += grey * grey;
    colours.add((pixels[at] << 16) | (pixels[at + 1] << 8) | pixels[at + 2]);
  }
  const mean = sum / count;
  return { width: image.width, height: image.height, deviation: Math.sqrt(squares / count - mean * mean), colours: colours.size };
}

// Fails where nothing but a ground is there to be seen.
export function checkDrawn(png, what) {
  const found = measure(png);
  if (found.deviation < 8 || found.colours < 100)
    throw new Error(`${what}: nothing is drawn (${found.colours} colours, deviation ${found.deviation.toFixed(1)})`);
  return found;
}
