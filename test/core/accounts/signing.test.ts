/** Signatures by the secret key, which nobody else can create. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { openSigning } from '../../../core/accounts/signing.ts'

test('a signed id in a cookie is valid only for its purpose and its key', () => {
  const key = randomBytes(32)
  const signing = openSigning(key)

  const { id, hash, cookie } = signing.makeId('session')

  assert.deepEqual(openSigning(key).readId('session', cookie), { id, hash, cookie })
  assert.equal(signing.readId('device', cookie), undefined)
  assert.equal(openSigning(randomBytes(32)).readId('session', cookie), undefined)
  assert.ok(!cookie.includes(hash))
})

test('an id with a wrong, truncated or missing signature is invalid', () => {
  const signing = openSigning(randomBytes(32))
  const [mine, other] = [signing.makeId('session').cookie.split('.'), signing.makeId('session').cookie.split('.')]

  for (const cookie of ['', mine[0]!, `${mine[0]}.`, `${mine[0]}.${other[1]}`, `${mine[0]}.${mine[1]!.slice(0, -2)}`])
    assert.equal(signing.readId('session', cookie), undefined, cookie)
})

test('a signature is valid only for its text and its purpose', () => {
  const signing = openSigning(randomBytes(32))

  const signature = signing.sign('link', 'a path').toString('base64url')

  assert.ok(signing.isSigned('link', 'a path', signature))
  for (const [purpose, text, given] of [
    ['link', 'another path', signature],
    ['csrf', 'a path', signature],
    ['link', 'a path', ''],
    ['link', 'a path', signature.slice(4)],
  ] as const)
    assert.equal(signing.isSigned(purpose, text, given), false)
})
