// Decompresses files and responses that are gzipped.

const kMaxUnpackedBytes = 2 ** 29; // bytes; the engine's own bound (engine/input/bytes.h)

const isGzip = (piece) => piece.length >= 2 && piece[0] === 0x1f && piece[1] === 0x8b;

// All of a stream as one Uint8Array. A small file may decompress to more than there is memory.
async function allOf(stream) {
  const reader = stream.getReader();
  const pieces = [];
  let count = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    count += value.length;
    if (count > kMaxUnpackedBytes) {
      await reader.cancel();
      throw new Error('it holds more than the 512 MiB that Recut reads');
    }
    pieces.push(value);
  }
  const bytes = new Uint8Array(count);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

// `blob`: a File, or a fetched response. Fails with a message for users.
export async function unpacked(blob) {
  if (blob.size > kMaxUnpackedBytes) throw new Error('it holds more than the 512 MiB that Recut reads');
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  if (!isGzip(head)) return allOf(blob.stream());
  try {
    return await allOf(blob.stream().pipeThrough(new DecompressionStream('gzip')));
  } catch (error) {
    if (error instanceof TypeError) throw new Error('gzip: damaged or cut off');
    throw error;
  }
}
