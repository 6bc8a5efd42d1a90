/** Stored passwords at their real cost; other tests hash almost for free. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSigning } from '../../../../core/accounts/signing.ts'
import { openLog } from '../../../../core/log.ts'
import { openSecretKey } from '../../../../core/secret-key.ts'
import { openPasswords } from '../../../../plugins/user/accounts/passwords.ts'
import user from '../../../../plugins/user/plugin.ts'
import { testAccounts } from '../../../core/http/given.ts'
import { PASSWORD_COST } from '../../../support/password-cost.ts'

const ASKER = { address: '192.0.2.1' }

test('an account has its password as scrypt at the cost for small machines, which alone signs in', async (t) => {
  const { dataDir, ...given } = await testAccounts(t)
  const log = openLog('silent')
  const signing = openSigning(await openSecretKey(dataDir))
  const { accounts, ensureFirst } = user.credentials!.open({ ...given, log, dataDir, signing })
  await ensureFirst({ username: 'admin', password: 'right-password' })

  const { password } = given.ledger.sql<{ password: string }>('SELECT password FROM users').get()!

  assert.match(password, /^scrypt\$14\$8\$5\$[\w-]{22}\$[\w-]{43}$/)
  assert.ok(await accounts.checkPassword('admin', 'right-password', ASKER.address))
  assert.equal(await accounts.checkPassword('admin', 'wrong', ASKER.address), undefined)
})

test('a password is checked at the cost with which it was stored, whatever new ones cost', async () => {
  const [former, present] = [openPasswords(PASSWORD_COST), openPasswords({ log2N: 5, r: 2, p: 1 })]
  const stored = await former.hash('right-password')

  assert.equal(await present.isRight('right-password', stored, ASKER), true)
  assert.equal(await present.isRight('wrong', stored, ASKER), false)
  assert.match(await present.hash('right-password'), /^scrypt\$5\$2\$1\$/)
})
