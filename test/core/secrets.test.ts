/**
 * Sealed secrets in the ledger: by which key, the effects of a new or different key, and secrets of earlier versions.
 */
import assert from 'node:assert/strict'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { definePlugin, defineTask, type PreferencesOf, Type } from 'archivolt'
import { PASSWORD, type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { TOTP } from 'otpauth'
import { makeNextKey, rotate } from '../../config/cli/rotate-key.ts'
import { sealAnew } from '../../config/cli/seal-anew.ts'
import { openSeal } from '../../core/ledger/seal.ts'
import { openLog } from '../../core/log.ts'
import { readNextKey, readSecretKey } from '../../core/secret-key.ts'
import recovery from '../../plugins/recovery/plugin.ts'
import user from '../../plugins/user/plugin.ts'
import webhooks from '../../plugins/webhooks/plugin.ts'

const way = { proxy: Type.String({ default: '', 'x-secret': true }), size: Type.Integer({ default: 1 }) }
declare module 'archivolt' {
  interface Events {
    'safe.opened': object
  }
  interface PreferenceValues {
    way: PreferencesOf<typeof way>
  }
}

const safe = definePlugin({
  name: 'safe',
  preferences: { way },
  events: ['safe.opened'],
  tasks: [
    defineTask({
      name: 'safe_open',
      title: 'Open',
      lane: 'light',
      payload: Type.Object({}),
      outgoing: true,
      run: async () => undefined,
    }),
  ],
})
const PLUGINS = [recovery, user, webhooks, safe]
const PROXY = 'socks5h://me:proxyword@127.0.0.1:9'
const MESSAGES = 'json://name:messageword@127.0.0.1:9/'
const HOOK = 'http://127.0.0.1:9/hook?key=hookword'
const STEP_MS = 30_000

function logged() {
  const lines: string[] = []
  const log = openLog('trace', { write: (line: string) => void lines.push(line) })
  return { log, text: () => lines.join('') }
}

interface Kept {
  app: TestApp
  totp: string
  recovery: string[]
  signing: string
  code: () => string
  /** @returns the status and the body */
  login: (code: string) => Promise<{ status: number; body: any }>
}

/** An app with one secret of each kind. */
async function withSecrets(t: TestContext, more: Partial<TestOptions> = {}): Promise<Kept> {
  const app = await testApp(t, { plugins: PLUGINS, hasCopies: true, ...more })
  const account = app.as('user')
  const { secret: totp } = (await account.post('/api/totp/', { current_password: PASSWORD })).body
  const code = () => new TOTP({ secret: totp }).generate({ timestamp: app.clock.now() })
  const { body } = await account.put('/api/totp/', { code: code() })
  await app.clock.advance(STEP_MS)
  const hook = { name: 'Hook', url: HOOK, events: ['safe.opened'] }
  const { secret: signing } = (await app.as('admin').post('/api/webhook/', hook)).body
  await app.app.schedules.addOutgoing('safe_open', MESSAGES)
  await app.app.preferences.change({ way: { proxy: PROXY } })
  const login = (given: string) =>
    app.as('nobody').post('/login/', { username: 'user', password: PASSWORD, code: given })
  return { app, totp, recovery: body.recovery_codes, signing, code, login }
}

const ledgerOf = ({ app }: Kept): string => join(app.dataDir, 'ledger.sqlite')
const ALL = ({ totp, signing }: Kept): string[] => [totp, signing, 'hookword', 'messageword', 'proxyword']

/** Those of the secrets that occur in files whose names begin with this, in any folder of the data folder. */
async function foundIn(kept: Kept, name: string): Promise<string[]> {
  const entries = await readdir(kept.app.dataDir, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.startsWith(name))
  assert.ok(files.length > 0, `there is a file ${name}`)
  const texts = await Promise.all(files.map(({ parentPath, name: file }) => readFile(join(parentPath, file), 'latin1')))
  return ALL(kept).filter((secret) => texts.some((text) => text.includes(secret)))
}

async function assertAllWork(kept: Kept): Promise<void> {
  const { app } = kept
  await app.clock.advance(STEP_MS)
  assert.equal((await kept.login(kept.code())).status, 204)
  assert.deepEqual(app.app.schedules.outgoing()['safe_open']?.urls, [MESSAGES])
  assert.equal(app.app.preferences.section('way').proxy, PROXY)
  const [hook] = app.app.webhooks.rows.webhooks()
  assert.deepEqual([hook?.url, hook?.secret], [HOOK, kept.signing])
}

/** Stores the secrets as an earlier version did. */
function makePlain(kept: Kept): void {
  const db = new Database(ledgerOf(kept))
  db.prepare('UPDATE totp SET secret = ?').run(kept.totp)
  db.prepare('UPDATE webhooks_webhook SET secret = ?, url = ?').run(kept.signing, HOOK)
  db.prepare('UPDATE outgoing_urls SET url = ?').run(MESSAGES)
  db.prepare("UPDATE preferences SET value = ? WHERE key = 'proxy'").run(JSON.stringify(PROXY))
  db.exec(`
    ALTER TABLE schedules DROP COLUMN last_state;
    ALTER TABLE schedules DROP COLUMN last_ended_at;
    ALTER TABLE schedules DROP COLUMN last_words;
    ALTER TABLE notifications DROP COLUMN about;
    ALTER TABLE jobs DROP COLUMN said;
    DROP TABLE sealed_columns;
    DROP TABLE user_pictures;
    DROP TABLE generation;
    DROP TABLE known_devices;
    ALTER TABLE sessions DROP COLUMN used_at;
    ALTER TABLE sessions DROP COLUMN browser;
    ALTER TABLE sessions DROP COLUMN system;
    ALTER TABLE sessions DROP COLUMN address;
    ALTER TABLE sessions DROP COLUMN way;
    ALTER TABLE sessions DROP COLUMN device;
    DELETE FROM migrations WHERE owner = 'core' AND number >= 8`)
  db.close()
}

test('no secret is in the ledger, its log or its copies in plain text, and all of them work', async (t) => {
  const kept = await withSecrets(t)

  assert.deepEqual(await foundIn(kept, 'ledger.sqlite'), [])
  await kept.app.close()
  assert.deepEqual(await foundIn(kept, 'ledger.sqlite'), [])
  assert.deepEqual(await foundIn(kept, 'daily-'), [])
  await kept.app.restart()

  await assertAllWork(kept)
  // Each is stored once, however often it is set; and other values stay readable.
  await kept.app.app.schedules.addOutgoing('safe_open', MESSAGES)
  await kept.app.app.preferences.change({ way: { size: 4 } })
  await assertAllWork(kept)
  assert.deepEqual(kept.app.app.ledger.sql("SELECT value FROM preferences WHERE key = 'size'").all(), [{ value: '4' }])
  await kept.app.app.schedules.removeOutgoing('safe_open', MESSAGES)
  assert.deepEqual(kept.app.app.schedules.outgoing(), {})
})

test('plain text of an earlier version is sealed by the next start, including the free pages of the file', async (t) => {
  const kept = await withSecrets(t)
  await kept.app.close()
  makePlain(kept)
  assert.deepEqual(await foundIn(kept, 'ledger.sqlite'), ALL(kept))

  await kept.app.restart()

  assert.deepEqual(await foundIn(kept, 'ledger.sqlite'), [])
  await assertAllWork(kept)
})

test('a new secret key seals them again, and the former one no longer opens anything', async (t) => {
  const lines = logged()
  const kept = await withSecrets(t, { log: lines.log })
  await kept.app.close()
  const former = (await readSecretKey(kept.app.dataDir))!

  const { sealed, unreadable } = await rotate(ledgerOf(kept))

  assert.deepEqual([sealed, unreadable.size, await readNextKey(kept.app.dataDir)], [5, 0, undefined])
  await kept.app.restart()
  await assertAllWork(kept)
  await kept.app.close()
  await writeFile(join(kept.app.dataDir, 'secret.key'), former)
  await kept.app.restart()
  assert.equal(kept.app.app.preferences.section('way').proxy, '')
  assert.match(lines.text(), /encrypted with another secret key/)
})

test('an interrupted change of the key is completed, or was never begun', async (t) => {
  const kept = await withSecrets(t)
  await kept.app.close()
  const { dataDir } = kept.app
  const former = (await readSecretKey(dataDir))!

  await makeNextKey(dataDir)
  await kept.app.restart()
  await assertAllWork(kept)
  await kept.app.close()
  assert.deepEqual([await readSecretKey(dataDir), await readNextKey(dataDir)], [former, undefined])

  const next = await makeNextKey(dataDir)
  const db = new Database(ledgerOf(kept))
  sealAnew(db, openSeal(former), openSeal(next))
  db.close()
  await kept.app.restart()
  await assertAllWork(kept)
  assert.deepEqual([await readSecretKey(dataDir), await readNextKey(dataDir)], [next, undefined])
})

test('with a different secret key it lists what cannot be read, and each secret can be set again', async (t) => {
  const lines = logged()
  const kept = await withSecrets(t, { log: lines.log })
  const { app } = kept
  await app.close()
  await rm(join(app.dataDir, 'secret.key'))
  await app.restart()
  const admin = app.as('admin')

  assert.match(
    lines.text(),
    /The ledger has secrets that were encrypted with another secret key \(1 in outgoing_urls\.url, .*1 in totp\.secret, 1 in webhooks_webhook\.secret/,
  )
  const [told] = kept.app.app.jobs.notifications().filter(({ title }) => title === 'Secrets cannot be read')
  assert.match(told!.messages[0]!, /put the former secret\.key back/)
  for (const secret of ALL(kept)) assert.ok(!lines.text().includes(secret), secret)
  const refused = await kept.login(kept.code())
  assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
  assert.match(refused.body.detail, /recovery code, or let an admin turn the app off/)
  assert.equal((await kept.login(kept.recovery[0]!)).status, 204)
  assert.equal((await admin.post('/api/user/2/', { totp: null })).status, 200)
  assert.equal((await app.as('nobody').post('/login/', { username: 'user', password: PASSWORD })).status, 204)

  assert.deepEqual((await admin.get('/api/webhook/')).body.webhooks[0].url, '')
  assert.match(
    (await admin.post('/api/webhook/1/test/')).body.error,
    /enter its address again, and give it a new secret/,
  )
  const { secret } = (await admin.post('/api/webhook/1/secret/')).body
  await admin.post('/api/webhook/1/', { url: HOOK })
  const [hook] = app.app.webhooks.rows.webhooks()
  assert.deepEqual([hook?.url, hook?.secret], [HOOK, secret])

  assert.deepEqual(app.app.schedules.outgoing(), {})
  await app.app.schedules.removeOutgoing('safe_open', undefined)
  await app.app.schedules.addOutgoing('safe_open', MESSAGES)
  await app.app.preferences.change({ way: { proxy: PROXY } })
  await app.restart()
  assert.deepEqual(app.app.schedules.outgoing()['safe_open']?.urls, [MESSAGES])
  assert.equal(app.app.preferences.section('way').proxy, PROXY)
})

test('a sealed text is valid only for its column, and a modified one is invalid', () => {
  const { seal, unseal } = openSeal(Buffer.alloc(32, 7))
  const sealed = seal('a.b', 'häuslich')

  assert.equal(unseal('a.b', sealed), 'häuslich')
  assert.notEqual(seal('a.b', 'häuslich'), sealed)
  assert.equal(unseal('a.c', sealed), undefined)
  assert.equal(openSeal(Buffer.alloc(32, 8)).unseal('a.b', sealed), undefined)
  for (const bad of ['', 'häuslich', 'sealed:1:', sealed.slice(0, -4), `sealed:1:AAAA${sealed.slice(13)}`])
    assert.equal(unseal('a.b', bad), undefined, bad)
})

test('the start refuses a secret column that does not exist or belongs to another plugin', async (t) => {
  const start = (column: string) => testApp(t, { plugins: [definePlugin({ name: 'safe', secretColumns: [column] })] })

  await assert.rejects(start('users.password'), /secret column users\.password must be named safe_<table>\.<column>/)
  await assert.rejects(
    start('safe_box.word'),
    /names safe_box\.word in secretColumns, but the ledger has no such column/,
  )
})
