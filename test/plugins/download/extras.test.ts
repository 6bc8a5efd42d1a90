/** Which comments and subtitles stay due when the platform fails: without the platform. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PlatformFailure } from '../../../plugins/platform/ask-failure.ts'
import { aVideo, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/slow.ts'

const HOUR_MS = 3_600_000

async function given(t: TestContext): Promise<TestApp> {
  const app = await testApp(t)
  await app.given(aVideo({ id: 'a' }), aVideo({ id: 'b' }))
  await app.as('admin').post('/api/config/', { downloads: { comment_max: '10', subtitle: 'en' } })
  return app
}

const blocked = () => new PlatformFailure({ failure: 'blocked', message: 'HTTP Error 429' }, { isDeferred: true })
const rowsOf = ({ app }: TestApp, table: string) =>
  app.ledger
    .sql<{ id: string }>(`SELECT video_id AS id FROM ${table} ORDER BY rowid`)
    .all()
    .map(({ id }) => id)

test('comments that fail while the platform refuses us stay due, and those of other videos follow', async (t) => {
  const app = await given(t)
  const { extras, jobs, platform } = app.app
  let isBlocked = true
  const comments = t.mock.method(platform, 'comments', async (id: string) => {
    if (id === 'a' && isBlocked) throw blocked()
    return []
  })
  await extras.remember('a')
  await extras.remember('b')

  await jobs.start('download_pending')
  await app.settled()
  assert.deepEqual(rowsOf(app, 'download_comments'), ['a'])

  isBlocked = false
  await jobs.start('download_pending')
  await app.settled()
  assert.deepEqual(rowsOf(app, 'download_comments'), [])
  assert.deepEqual(
    comments.mock.calls.map(({ arguments: [id] }) => id),
    ['a', 'b', 'a'],
  )
})

test('what a refresh cannot request is fetched later', async (t) => {
  const app = await given(t)
  const { extras, platform } = app.app
  t.mock.method(platform, 'comments', async () => Promise.reject(blocked()))
  t.mock.method(platform, 'subtitles', async () => Promise.reject(blocked()))
  const job = { id: 'test', signal: new AbortController().signal, log: app.app.log } as never

  await extras.fetch('a', job)
  await app.settled()

  assert.deepEqual([rowsOf(app, 'download_comments'), rowsOf(app, 'download_subtitles')], [['a'], ['a']])
  assert.notEqual(app.app.jobs.active('fetch_subtitles'), undefined)
})

test('subtitles of one video that fail each time delay no others, and are given up in the end', async (t) => {
  const app = await given(t)
  const { extras, jobs, platform } = app.app
  const asked: string[] = []
  t.mock.method(platform, 'subtitles', async (id: string) => {
    asked.push(id)
    if (id === 'a') throw new PlatformFailure({ failure: 'unknown', message: 'odd' })
    return { subtitles: [], arePutOff: false }
  })
  await extras.putOffSubtitles('a')
  await extras.putOffSubtitles('b')

  const { id } = await jobs.start('fetch_subtitles')
  await app.settled()
  assert.deepEqual([asked, rowsOf(app, 'download_subtitles'), jobs.get(id)?.state], [['a', 'b'], ['a'], 'RETRY'])

  const ended = jobs.ended(id)
  for (let retry = 0; retry < 6; retry++) {
    await app.clock.advance(6 * HOUR_MS)
    await app.settled()
  }
  assert.deepEqual([asked.length, rowsOf(app, 'download_subtitles'), (await ended).state], [8, [], 'SUCCESS'])
})

test('postponed subtitles stay due however often the platform refuses us or does not respond', async (t) => {
  const app = await given(t)
  const { extras, jobs, platform } = app.app
  const failures = [
    new PlatformFailure({ failure: 'network', message: 'timed out' }),
    new PlatformFailure({ failure: 'login_required', message: 'Please sign in' }, { isDeferred: true }),
  ]
  const subtitles = t.mock.method(platform, 'subtitles', async () => {
    throw failures[subtitles.mock.callCount() % 2]
  })
  await extras.putOffSubtitles('a')

  for (let start = 0; start < 2; start++) {
    const ended = jobs.ended((await jobs.start('fetch_subtitles')).id)
    for (let retry = 0; retry <= 6; retry++) {
      await app.settled()
      await app.clock.advance(6 * HOUR_MS)
    }
    assert.equal((await ended).state, 'FAILURE')
  }

  assert.deepEqual(rowsOf(app, 'download_subtitles'), ['a'])
})
