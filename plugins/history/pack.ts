/**
 * Packs values for the ledger: short ones as JSON text, long ones compressed, alone or as the difference from another.
 */
import { brotliCompressSync, brotliDecompressSync, constants, deflateRawSync, inflateRawSync } from 'node:zlib'

export type Packed = string | Buffer

/** Minimum length of a text that is compressed: shorter ones hardly shrink. */
const LONG = 64
const LONG_DIFFERENCE = 24
/** Limit of an unpacked text: the platform's are shorter, and a damaged row must not fill the memory. */
const MOST = { maxOutputLength: 4 << 20 }

const smaller = (packed: Buffer, text: string): Packed => (packed.length < Buffer.byteLength(text) ? packed : text)

/** Brotli has a built-in dictionary of many languages, so that it compresses single texts better. */
export function pack(text: string): Packed {
  if (text.length < LONG) return text
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: 10,
    // Enough for any description; a larger window costs more memory for each text.
    [constants.BROTLI_PARAM_LGWIN]: 16,
    [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
  }
  return smaller(brotliCompressSync(text, { params }), text)
}

export const unpack = (packed: Packed): string =>
  typeof packed === 'string' ? packed : brotliDecompressSync(packed, MOST).toString()

/** Packs the difference from `other`, which is needed to unpack it. */
export function packDifference(text: string, other: string): Packed {
  if (text.length < LONG_DIFFERENCE) return text
  return smaller(deflateRawSync(text, { level: 9, dictionary: Buffer.from(other) }), text)
}

export const unpackDifference = (packed: Packed, other: string): string =>
  typeof packed === 'string' ? packed : inflateRawSync(packed, { ...MOST, dictionary: Buffer.from(other) }).toString()
