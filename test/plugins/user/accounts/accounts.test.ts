/** Accounts: passwords, the throttle of sign-ins, tokens, the first admin. */
import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { isAppError } from '../../../../core/base/error.ts'
import { openSecretKey } from '../../../../core/secret-key.ts'
import { type TestAccounts, testAccounts } from '../../../core/http/given.ts'

const HERE = '192.0.2.1'
const ELSEWHERE = '192.0.2.2'

const withAdmin = async (given: TestAccounts) => (
  await given.credentials.ensureFirst({ username: 'admin', password: 'right-password' }), given
)
const secondsToWait = (error: unknown) =>
  isAppError(error, 'throttled') ? error.details.retryAfterSeconds! : assert.fail(String(error))

test('the first account is an admin with a token; its generated password is in a file that only its owner can read', async (t) => {
  const { accounts, credentials, dataDir } = await testAccounts(t)
  const first = await credentials.ensureFirst({ username: 'admin', password: null })
  const path = join(dataDir, 'first-password')

  assert.deepEqual(
    { ...first, password: undefined },
    { isNew: true, username: 'admin', password: undefined, passwordFile: path },
  )
  assert.equal((await readFile(path, 'utf8')).trim(), first.password)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.equal((await accounts.checkPassword('admin', first.password!, HERE))?.account.is_staff, true)
  assert.deepEqual(await credentials.ensureFirst({ username: 'other', password: null }), {
    isNew: false,
    username: 'admin',
  })

  await accounts.change(1, { password: 'a new password' })
  await assert.rejects(stat(path), { code: 'ENOENT' })
})

test('the secret key is created once, readable for its owner alone', async (t) => {
  const { dataDir } = await testAccounts(t)
  const key = await openSecretKey(dataDir)
  assert.equal(key.length, 32)
  assert.deepEqual(await openSecretKey(dataDir), key)
  assert.equal((await stat(join(dataDir, 'secret.key'))).mode & 0o777, 0o600)
})

test('the ledger has no password, token or session in a usable form', async (t) => {
  const { accounts, ledger } = await withAdmin(await testAccounts(t))
  const token = await accounts.token(1)
  const { sessionId } = await accounts.openSession(1, false)
  await accounts.change(1, { pin: '47114711' })
  const proof = (await accounts.checkPassword('admin', 'right-password', HERE))!
  const { device } = (await accounts.keepOnDevice(1, undefined, proof))!
  const tables = ['users', 'tokens', 'sessions', 'device_accounts']
  const all = JSON.stringify(tables.map((table) => ledger.sql(`SELECT * FROM ${table}`).all()))
  for (const secret of [token, 'right-password', '47114711', ...sessionId.split('.'), ...device.split('.')])
    assert.ok(!all.includes(secret))
})

test('a login needs the right name and password of an active account', async (t) => {
  const { accounts } = await withAdmin(await testAccounts(t))
  await accounts.create({ username: 'gone', password: 'right-password', isStaff: false })
  await accounts.change(2, { is_active: false })
  for (const [username, password] of [
    ['admin', 'wrong'],
    ['nobody', 'right-password'],
    ['gone', 'right-password'],
    ['admin', ''],
  ]) {
    assert.equal(await accounts.checkPassword(username!, password!, HERE), undefined, username)
  }
  assert.equal((await accounts.checkPassword('admin', 'right-password', HERE))?.account.id, 1)
  assert.match(accounts.get(1)!.last_login!, /^2026-01-15T10:00:0/)
})

test('after five failures an address waits, longer with each further attempt, whatever the password', async (t) => {
  const { accounts, clock } = await withAdmin(await testAccounts(t))
  for (let attempt = 0; attempt < 5; attempt++)
    assert.equal(await accounts.checkPassword('admin', 'wrong', HERE), undefined)

  const waits: number[] = []
  for (let attempt = 0; attempt < 3; attempt++)
    await accounts.checkPassword('admin', 'right-password', HERE).catch((error) => waits.push(secondsToWait(error)))
  assert.deepEqual(waits, [60, 120, 240])

  await clock.advance(240_000)
  const late = accounts.checkPassword('admin', 'right-password', HERE)
  await clock.advance(2000)
  assert.equal((await late)?.account.id, 1)
})

test('the wait after failures does not depend on changes of the clock', async (t) => {
  const { accounts, clock } = await withAdmin(await testAccounts(t))
  for (let attempt = 0; attempt < 5; attempt++) await accounts.checkPassword('admin', 'wrong', HERE)

  clock.set('2026-01-15T09:00:00Z')
  await assert.rejects(accounts.checkPassword('admin', 'right-password', HERE), (error) => secondsToWait(error) === 60)
  clock.set('2026-01-15T12:00:00Z')
  await assert.rejects(accounts.checkPassword('admin', 'right-password', HERE), (error) => secondsToWait(error) === 120)

  await clock.advance(301_000)
  assert.ok(await accounts.checkPassword('admin', 'right-password', HERE))
})

test('five failures from one address only slow down the others: one attempt at a time, a second each', async (t) => {
  const { accounts, clock } = await withAdmin(await testAccounts(t))
  for (let attempt = 0; attempt < 5; attempt++) await accounts.checkPassword('admin', 'wrong', HERE)

  let done = 0
  const both = [ELSEWHERE, '192.0.2.3'].map(async (address) => {
    const proof = await accounts.checkPassword('admin', 'right-password', address)
    done++
    return proof?.account.id
  })
  await clock.advance(900)
  assert.equal(done, 0)
  await clock.advance(200)
  await Promise.race(both)
  assert.equal(done, 1)
  await clock.advance(1100)
  assert.deepEqual(await Promise.all(both), [1, 1])
})

test('failures are forgotten after five minutes, and after a correct password', async (t) => {
  const { accounts, clock } = await withAdmin(await testAccounts(t))
  const fail = async (times: number) => {
    for (let attempt = 0; attempt < times; attempt++)
      assert.equal(await accounts.checkPassword('admin', 'wrong', HERE), undefined)
  }
  await fail(4)
  assert.ok(await accounts.checkPassword('admin', 'right-password', HERE))
  await clock.advance(301_000)
  await fail(4)
  await clock.advance(301_000)
  await fail(4)
})

test('many simultaneous logins from one address are counted one after the other', async (t) => {
  const { accounts } = await withAdmin(await testAccounts(t))
  const fourAtOnce = () =>
    Promise.allSettled(Array.from({ length: 4 }, () => accounts.checkPassword('admin', 'wrong', HERE)))
  const all = [...(await fourAtOnce()), ...(await fourAtOnce())]
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 5)
})

test('a token stays the same until it is revoked or the password changes', async (t) => {
  const { accounts, credentials } = await withAdmin(await testAccounts(t))
  const first = await accounts.token(1)
  assert.match(first, /^[0-9a-f]{40}$/)
  assert.equal(await accounts.token(1), first)
  await accounts.revokeToken(1)
  assert.equal(credentials.byToken(first), undefined)
  const second = await accounts.token(1)
  await accounts.change(1, { password: 'another one' })
  assert.equal(credentials.byToken(second), undefined)
  assert.equal(new Set([first, second, await accounts.token(1)]).size, 3)
})

test('a password change ends the other sessions and keeps the one that made it', async (t) => {
  const { accounts, credentials } = await withAdmin(await testAccounts(t))
  const [mine, other] = [await accounts.openSession(1, true), await accounts.openSession(1, true)]
  await accounts.change(
    1,
    { password: 'another one' },
    { keepSession: credentials.bySession(mine.sessionId)!.session.hash },
  )
  assert.ok(credentials.bySession(mine.sessionId))
  assert.equal(credentials.bySession(other.sessionId), undefined)
})

test('a password that is changed after it was checked no longer signs in', async (t) => {
  const { accounts } = await withAdmin(await testAccounts(t))
  const proof = await accounts.checkPassword('admin', 'right-password', HERE)
  const own = await accounts.checkOwnPassword(1, 'right-password', HERE)
  assert.ok(proof?.holds() && own?.holds())

  await accounts.change(1, { password: 'another one' })

  const meanwhile = { code: 'bad_request', message: /changed in the meantime/ }
  await assert.rejects(accounts.token(1, proof), meanwhile)
  await assert.rejects(accounts.openSession(1, true, proof), meanwhile)
  await assert.rejects(accounts.change(1, { password: 'right-password' }, { proof: own }), meanwhile)
  await accounts.token(1)
  await assert.rejects(accounts.token(1, proof), meanwhile)
  assert.ok(await accounts.checkPassword('admin', 'another one', HERE))
})

test('one address with many names leaves room for others', async (t) => {
  const { accounts } = await withAdmin(await testAccounts(t))
  const flood = Array.from({ length: 115 }, (_, at) => accounts.checkPassword(`nobody${at}`, 'wrong', HERE))
  const mine = accounts.checkPassword('admin', 'right-password', ELSEWHERE)
  const all = await Promise.allSettled(flood)
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 4) // one that is looked at, three that wait
  assert.ok(all.every((one) => one.status === 'fulfilled' || secondsToWait(one.reason) === 5))
  assert.ok(await mine)
  assert.equal(await accounts.checkPassword('nobody0', 'wrong', HERE), undefined)
})

test('many addresses with many names each leave room for others, and take turns', async (t) => {
  const { accounts, logged } = await withAdmin(await testAccounts(t))
  const flood = Array.from({ length: 120 }, (_, at) =>
    accounts.checkPassword(`nobody${at}`, 'wrong', `192.0.2.${10 + (at % 6)}`),
  )
  const mine = accounts.checkPassword('admin', 'wrong', ELSEWHERE)

  const all = await Promise.allSettled([...flood, mine])

  assert.equal(all.filter(({ status }) => status === 'rejected').length, 96)
  const turns = logged
    .map((line) => JSON.parse(line) as { security?: string; address: string })
    .filter(({ security }) => security === 'sign_in_refused')
    .map(({ address }) => address)
  assert.equal(turns.length, 25)
  // Two that ran at once, one of each address, and one that may end before it.
  assert.ok(turns.indexOf(ELSEWHERE) <= 9, String(turns))
})

test('all addresses of an IPv6 network count as one, and an IPv4 address is the same in every notation', async (t) => {
  const { accounts } = await withAdmin(await testAccounts(t))
  const table: Array<[accepted: number, addresses: string[]]> = [
    [
      4,
      [
        '2001:db8::1',
        '2001:db8:0:0:ffff::2',
        '2001:DB8::3%eth0',
        '[2001:db8::4]:443',
        '2001:db8::5',
        '2001:0db8:0000::6',
      ],
    ],
    [4, ['192.0.2.7', '::ffff:192.0.2.7', '192.0.2.7:1234', '192.0.2.7:1235', '192.0.2.7:1236']],
    [5, ['2001:db8:0:1::1', '2001:db8:0:2::1', '2001:db8:1::1', '::1', '2001:db8:0:1::2']],
  ]
  for (const [accepted, addresses] of table) {
    const all = await Promise.allSettled(
      addresses.map((address) => accounts.checkPassword(`nobody-${address}`, 'wrong', address)),
    )
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, accepted, String(addresses))
  }
})

test('a disconnected client waits no longer, and frees its slot', async (t) => {
  const { accounts, clock } = await withAdmin(await testAccounts(t))
  for (let attempt = 0; attempt < 5; attempt++) await accounts.checkPassword('admin', 'wrong', HERE)
  const left = new AbortController()
  const gone = Array.from({ length: 4 }, (_, at) =>
    accounts.checkPassword(at < 2 ? 'admin' : `nobody${at}`, 'wrong', ELSEWHERE, left.signal),
  )
  const all = Promise.allSettled(gone)
  await assert.rejects(accounts.checkPassword('admin', 'right-password', ELSEWHERE), { code: 'throttled' })

  left.abort(new Error('gone'))

  assert.deepEqual(
    (await all).slice(0, 2).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  const mine = accounts.checkPassword('admin', 'right-password', ELSEWHERE)
  await clock.advance(1000) // one second for this one alone, because nothing is ahead of it
  assert.ok(await mine)
})

test('the last active admin can neither be removed nor lose the role', async (t) => {
  const { accounts } = await withAdmin(await testAccounts(t))
  await accounts.create({ username: 'second', password: 'right-password', isStaff: true })
  await accounts.change(2, { is_active: false })
  for (const act of [
    () => accounts.remove(1),
    () => accounts.change(1, { is_staff: false }),
    () => accounts.change(1, { is_active: false }),
  ]) {
    await assert.rejects(act, { code: 'conflict' })
  }
  await accounts.change(2, { is_active: true })
  await accounts.remove(1)
  assert.deepEqual(
    accounts.list().map(({ username }) => username),
    ['second'],
  )
})

test('a name is unique; an id is never reused, so an old token is invalid', async (t) => {
  const { accounts, credentials } = await withAdmin(await testAccounts(t))
  const { id } = await accounts.create({ username: 'second', password: 'right-password', isStaff: false })
  await assert.rejects(accounts.create({ username: 'second', password: 'right-password', isStaff: false }), {
    code: 'conflict',
  })
  const token = await accounts.token(id)
  await accounts.remove(id)
  const next = await accounts.create({ username: 'second', password: 'right-password', isStaff: false })
  assert.ok(next.id > id)
  assert.notEqual(await accounts.token(next.id), token)
  assert.equal(credentials.byToken(token), undefined)
})
