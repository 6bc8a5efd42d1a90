/** Packs values for the ledger: short ones as JSON text, long ones compressed with the value before as dictionary. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'

export type Packed = string | Buffer

/** Shorter texts hardly shrink. */
const LONG = 120
/** The platform's texts are shorter; a damaged row must not fill the memory. */
const MOST_BYTES = 4 << 20

/** @param near  a text that has much in common with it, which must be known again to unpack it */
export function pack(text: string, near = ''): Packed {
  if (text.length < LONG) return text
  const packed = deflateRawSync(text, { level: 9, ...dictionaryOf(near) })
  return packed.length < text.length ? packed : text
}

export const unpack = (packed: Packed, near = ''): string =>
  typeof packed === 'string'
    ? packed
    : inflateRawSync(packed, { maxOutputLength: MOST_BYTES, ...dictionaryOf(near) }).toString()

const dictionaryOf = (near: string) => (near === '' ? {} : { dictionary: Buffer.from(near) })
