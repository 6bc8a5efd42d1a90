/**
 * Calculates the CRC-32 of zip archives (PKZIP appnote 4.4.7) with node:zlib, or itself before Node 20.15, which lacks
 * it.
 */
import * as zlib from 'node:zlib'

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** @param before  the checksum of the preceding bytes */
export const crc32: (bytes: Uint8Array, before?: number) => number = 'crc32' in zlib ? zlib.crc32 : crc32OfTable

export function crc32OfTable(bytes: Uint8Array, before = 0): number {
  let value = ~before
  for (let at = 0; at < bytes.length; at++) value = TABLE[(value ^ bytes[at]!) & 0xff]! ^ (value >>> 8)
  return ~value >>> 0
}
