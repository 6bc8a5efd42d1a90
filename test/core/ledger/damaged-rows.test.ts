/** A damaged value in a row of the ledger prevents no start, list or task; a damaged view shows nothing. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { aChannel, aVideo, testApp } from '../../support/testing.ts'

/** The columns that contain JSON. */
const VALUES = [
  ['schedules', 'config'],
  ['schedules', 'last_words'],
  ['notifications', 'messages'],
  ['jobs', 'payload'],
  ['jobs', 'said'],
  ['jobs', 'log'],
  ['preferences', 'value'],
  ['users', 'settings'],
  ['users', 'view'],
  ['webhooks_webhook', 'events'],
] as const
const LISTS = [
  'config',
  'task-name',
  'schedule',
  'notification',
  'webhook',
  'user',
  'user/2',
  'video',
  'snapshot',
  'backup',
].map((name) => `/api/${name}/`)

test('damaged JSON in rows of the ledger prevents no start, no list and no task, and a damaged view shows nothing', async (t) => {
  const app = await testApp(t)
  await app.settled()
  const admin = app.as('admin')
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  const view = await admin.post('/api/user/2/', { view: { channel: ['UC1'] } })
  assert.equal(view.status, 200, view.text)
  const hook = await admin.post('/api/webhook/', {
    name: 'hook',
    url: 'https://hooks.example/av',
    events: ['video.added'],
  })
  assert.ok(hook.status < 300, hook.text)
  await admin.post('/api/config/', { downloads: { sleep_interval: 5 } })
  await admin.post('/api/schedule/', { task_name: 'run_backup', schedule: '0 3 *' })
  await admin.post('/api/backup/')
  await app.settled()
  const lists = await Promise.all(LISTS.map(async (path) => (await admin.get(path)).status))
  await app.close()
  const db = new Database(join(app.dataDir, 'ledger.sqlite'))
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  const damaged = VALUES.map(([table, column]) => {
    assert.ok(tables.includes(table), table)
    return db.prepare(`UPDATE ${table} SET ${column} = '{"' || ${column} WHERE ${column} IS NOT NULL`).run().changes
  })
  db.prepare(
    `INSERT INTO jobs (seq, id, task, lane, internal, state, payload, again, retries, created_at)
       SELECT max(seq) + 1, 'waiting', 'run_backup', 'index', 0, 'PENDING', '{"/', 0, 0, 1 FROM jobs`,
  ).run()
  db.close()

  await app.restart()
  await app.settled()

  const after = await Promise.all(LISTS.map((path) => app.as('admin').get(path)))
  assert.deepEqual(
    after.map(({ status }) => status),
    lists,
    after.map(({ text }) => text).join('\n'),
  )
  assert.deepEqual(
    lists,
    LISTS.map(() => 200),
  )
  assert.equal(app.app.jobs.get('waiting')?.state, 'FAILED')
  assert.deepEqual(app.app.accounts.list().find(({ id }) => id === 2)?.view, {})
  assert.deepEqual((await app.as('user').get('/api/video/')).body.data, [])
  assert.equal((await app.app.jobs.ended((await app.app.jobs.start('run_backup')).id)).state, 'SUCCESS')
  assert.ok(damaged.filter((count) => count > 0).length >= 8, String(damaged))
})
