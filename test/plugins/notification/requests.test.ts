/** An account that requested a video, and no other, is notified of the result (contract 8.4). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aNewItem, aVideo, type TestApp, testApp } from 'archivolt/testing'

const HOUR_MS = 3_600_000

interface Message {
  level: string
  group: string
  messages: string[]
}

const toldTo = async (app: TestApp, who: 'user' | 'admin'): Promise<string[]> =>
  (await app.as(who).get('/api/notification/?filter=download')).body
    .filter(({ group }: Message) => group === 'download:request')
    .map(({ level, messages }: Message) => `${level}: ${messages.join()}`)

/** Two pending items that the user has requested. */
async function asked(t: Parameters<typeof testApp>[0]): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(aChannel())
  await app.app.queue.add([aNewItem('a', { title: 'First' }), aNewItem('b', { title: 'Second' })], 'pending')
  await app.app.emit('queue.asked', { userId: 2, ids: ['a', 'b'] })
  return app
}

async function come(app: TestApp, id: string, title: string): Promise<void> {
  await app.given(aVideo({ id, title }))
  await app.app.queue.done(id)
}

test('the arrival of a video is reported to the account that requested it, for an hour, across a restart', async (t) => {
  const app = await asked(t)
  assert.deepEqual(await toldTo(app, 'user'), [])

  await come(app, 'a', 'First film')

  assert.deepEqual(await toldTo(app, 'user'), ['info: “First film” is ready to watch'])
  assert.deepEqual(await toldTo(app, 'admin'), [])
  await app.restart()
  assert.deepEqual(await toldTo(app, 'user'), ['info: “First film” is ready to watch'])
  await app.clock.advance(HOUR_MS + 1000)
  assert.deepEqual(await toldTo(app, 'user'), [])
  const { rows } = app.app.ledger
    .sql<{ rows: number }>('SELECT count(*) AS rows FROM notification_request WHERE said IS NOT NULL')
    .get()!
  assert.equal(rows, 0, 'what was told is gone')
})

test('a permanent failure is reported with its reason; an item that waits for its time is not', async (t) => {
  const app = await asked(t)
  const { queue } = app.app
  await queue.fail('a', { errorClass: 'gone', message: 'This video is private' })
  await queue.fail('b', { errorClass: 'upcoming', message: 'It begins later', retryAt: 9_999_999_999 })

  assert.deepEqual(await toldTo(app, 'user'), ['error: “First” could not be downloaded: This video is private'])
  await come(app, 'b', 'Second')
  assert.equal((await toldTo(app, 'user')).at(-1), 'info: “Second” is ready to watch')
})

test('an item that an admin deletes or ignores is no longer reported', async (t) => {
  const app = await asked(t)
  await app.app.queue.remove('a')
  await app.app.queue.setStatus('b', 'ignore')
  await app.settled()

  for (const id of ['a', 'b']) await come(app, id, id)
  assert.deepEqual(await toldTo(app, 'user'), [])
})

test('arrivals that were not reported before a stop are reported by the next start', async (t) => {
  const app = await asked(t)
  await app.given(aVideo({ id: 'a', title: 'First' }))
  const { commit } = await app.app.queue.documents.replacement()
  await commit()

  await app.restart()
  await app.settled()

  assert.deepEqual(await toldTo(app, 'user'), ['info: “First” is ready to watch'])
})

test('each account that requested a video is notified; admins, who see the queue, are not; a deleted account leaves no trace', async (t) => {
  const app = await asked(t)
  const { id } = await app.app.accounts.create({ username: 'other', password: 'a long password', isStaff: false })
  await app.app.emit('queue.asked', { userId: id, ids: ['a'] })
  await app.app.emit('queue.asked', { userId: 1, ids: ['a'] })
  await app.app.emit('queue.asked', { userId: 99, ids: ['a'] })
  const headers = { authorization: `Token ${await app.app.accounts.token(id)}` }

  await come(app, 'a', 'First')

  const ofOther = (await app.as('nobody').get('/api/notification/?filter=download', headers)).body
  assert.deepEqual(
    ofOther.map(({ messages }: Message) => messages),
    [['“First” is ready to watch']],
  )
  assert.equal((await toldTo(app, 'user')).length, 1)
  assert.deepEqual(await toldTo(app, 'admin'), [])
  await app.app.accounts.remove(id)
  await app.app.accounts.remove(2)
  const { rows } = app.app.ledger.sql<{ rows: number }>('SELECT count(*) AS rows FROM notification_request').get()!
  assert.equal(rows, 0)
})

test('an account with many requests is notified of the newest twenty; requesting again is a new request', async (t) => {
  const app = await asked(t)
  const ids = Array.from({ length: 30 }, (_, n) => `n${n}`)
  await app.app.queue.add(
    ids.map((id) => aNewItem(id)),
    'pending',
  )
  await app.app.emit('queue.asked', { userId: 2, ids })
  for (const id of ids) {
    await app.clock.advance(1000)
    await come(app, id, id)
  }
  const told = await toldTo(app, 'user')
  assert.deepEqual(
    [told.length, told[0], told.at(-1)],
    [20, 'info: “n10” is ready to watch', 'info: “n29” is ready to watch'],
  )

  await app.app.queue.fail('a', { errorClass: 'gone', message: 'It is private' })
  await app.app.queue.setStatus('a', 'pending')
  await app.app.emit('queue.asked', { userId: 2, ids: ['a'] })
  assert.ok(!(await toldTo(app, 'user')).some((said) => said.includes('private')))
})
