/** The checksum of zip archives without that of node:zlib, which Node before 20.15 does not have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, crc32OfTable } from '../../../plugins/backup/checksum.ts'

test('both checksums are that of the standard, in pieces as at once', () => {
  const bytes = Buffer.from('123456789')
  for (const of of [crc32, crc32OfTable]) {
    assert.equal(of(bytes), 0xcbf43926)
    assert.equal(of(bytes.subarray(4), of(bytes.subarray(0, 4))), 0xcbf43926)
  }
})
