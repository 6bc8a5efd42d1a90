/** Encryption with a passphrase: reading and writing the age format, and detecting changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decrypted, encrypting } from '../../../plugins/backup/whole/age.ts'

const PASSPHRASE = 'correct horse battery staple'
/** Made by age-encryption 0.3.1 (npm), with this passphrase and the work factor 10. */
const OTHERS = Buffer.from(
  'YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IHNjcnlwdCBjbHY5SEc0bytCWTRUZjM2NnBvbHZRIDEwCm5xMEExVng2TWkyNnZjRDI0OUxRT3VWcWcxVm9IUTVFYmY4TWlIZG8vdGMKLS0tIHI4a0M3NVpheHl5bFExN2dVeEU1MTUyK2c4NEN3bnFiRjhLb3JBYWlVOVEK/rx90txSYV+7mg7DEi6c3nWNmFsmD77X0xRjt4LAak+eXUcWCrqc51t90J09tfzrTju7eqWszsC31hBY',
  'base64',
)
const PIECE = 65536 + 16
/** A thousandth of the cost for a backup. */
const CHEAP = 6

async function encrypt(plain: Buffer): Promise<Buffer> {
  const stream = await encrypting(PASSPHRASE, CHEAP)
  stream.end(plain)
  return Buffer.concat((await stream.toArray()) as Buffer[])
}

async function decrypt(sealed: Buffer, passphrase = PASSPHRASE, piece = 1000): Promise<Buffer> {
  async function* pieces() {
    for (let from = 0; from < sealed.length; from += piece) yield sealed.subarray(from, from + piece)
  }
  const plain: Buffer[] = []
  for await (const some of decrypted(pieces(), passphrase)) plain.push(some)
  return Buffer.concat(plain)
}

test('a file of another age implementation is read', async () => {
  assert.equal((await decrypt(OTHERS)).toString(), 'Written by another program.\n')
})

test('each guess of a backup’s passphrase costs 64 MB and a tenth of a second', async () => {
  const stream = await encrypting(PASSPHRASE)
  stream.end('herring')
  const sealed = Buffer.concat((await stream.toArray()) as Buffer[])

  assert.match(sealed.toString('latin1'), /^age-encryption\.org\/v1\n-> scrypt \S{22} 16\n/)
})

test('any length is restored, however the disk delivers it', async () => {
  for (const [length, piece] of [
    [0, 1000],
    [1, 1 << 20],
    [65536, 777],
    [65537, 1 << 20],
    [200_000, 777],
  ] as const) {
    const plain = Buffer.alloc(length, 'herring ')
    assert.ok((await decrypt(await encrypt(plain), PASSPHRASE, piece)).equals(plain), `${length}`)
  }
})

test('a changed byte, a changed order, a missing end and a wrong passphrase are detected', async () => {
  const sealed = await encrypt(Buffer.alloc(200_000, 'herring '))
  const start = sealed.length - (200_000 + 4 * 16)
  const pieces = [0, 1, 2].map((place) => sealed.subarray(start + place * PIECE, start + (place + 1) * PIECE))
  const end = sealed.subarray(start + 3 * PIECE)
  const flipped = (at: number) => {
    const copy = Buffer.from(sealed)
    copy[at]! ^= 1
    return copy
  }
  const head = sealed.subarray(0, start)
  for (const [kind, bad] of Object.entries({
    'the mac': flipped(start - 20),
    'the first piece': flipped(start),
    'the last byte': flipped(sealed.length - 1),
    'another order': Buffer.concat([head, pieces[1]!, pieces[0]!, pieces[2]!, end]),
    'a piece missing': Buffer.concat([head, pieces[0]!, pieces[2]!, end]),
    'a piece twice': Buffer.concat([head, ...pieces, pieces[2]!, end]),
    'cut between pieces': Buffer.concat([head, ...pieces]),
    'cut in a piece': sealed.subarray(0, sealed.length - 5),
    'cut in its header': sealed.subarray(0, 50),
    nothing: Buffer.alloc(0),
    'something after it': Buffer.concat([sealed, Buffer.alloc(70_000)]),
  }))
    await assert.rejects(decrypt(bad), { kind: 'damaged' }, kind)
  await assert.rejects(decrypt(sealed, 'correct horse'), { kind: 'passphrase' })
})
