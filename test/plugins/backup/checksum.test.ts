/** The checksum of zip archives without node:zlib's, which Node before 20.15 lacks. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, crc32OfTable } from '../../../plugins/backup/checksum.ts'

test('both checksums equal the standard’s, in chunks as at once', () => {
  const bytes = Buffer.from('123456789')
  for (const of of [crc32, crc32OfTable]) {
    assert.equal(of(bytes), 0xcbf43926)
    assert.equal(of(bytes.subarray(4), of(bytes.subarray(0, 4))), 0xcbf43926)
  }
})
