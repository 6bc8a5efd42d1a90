/** Crowd-sourced titles through the API, read from a stand-in for the community service. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { aChannel, aVideo, type TestApp, testApp } from '../../support/testing.ts'
import { prefixOf, startTitlesService } from '../../support/titles-service.ts'

const HOUR = 3_600_000

async function given(t: TestContext, settings: object = {}) {
  const service = await startTitlesService(t)
  const app = await testApp(t, { settings: { ...settings, dearrowUrl: service.url } })
  await app.given(aChannel(), aVideo({ id: 'v1', title: 'You WON’T believe this' }))
  service.proposals.set('v1', {
    titles: [
      { title: 'Most voted', votes: 9, locked: false, original: false },
      { title: 'Why the >Quokka smiles', votes: 1, locked: true, original: false },
    ],
    thumbnails: [{ timestamp: 3.5, votes: 2, locked: false, original: false }],
  })
  return { app, service }
}

const switchTo = (app: TestApp, enabled: boolean) => app.as('admin').post('/api/config/', { dearrow: { enabled } })
const video = async (app: TestApp, id = 'v1') => (await app.as('user').get(`/api/video/${id}/`)).body.data

/** Waits until the started round has ended. */
async function round(app: TestApp): Promise<void> {
  do {
    await setImmediate()
    await app.clock.advance(1000)
  } while (app.app.jobs.open('dearrow.refresh').some(({ state }) => state !== 'RETRY'))
}

test('once it is switched on, videos are requested by four digits of a hash, and nothing else about them is sent', async (t) => {
  const { app, service } = await given(t)
  await app.given(aVideo({ id: 'unknown' }))
  await app.clock.advance(2 * HOUR)
  assert.deepEqual(service.asked, [], 'it is off at first')

  await switchTo(app, true)
  await round(app)

  assert.deepEqual(service.asked.toSorted(), ['v1', 'unknown'].map((id) => `/api/branding/${prefixOf(id)}`).toSorted())
  const { title, dearrow } = await video(app)
  assert.equal(title, 'You WON’T believe this')
  assert.deepEqual([dearrow.title, dearrow.thumbnail], ['Why the Quokka smiles', 3.5])
  assert.deepEqual(Object.keys((await video(app, 'unknown')).dearrow), ['last_refresh'])

  service.proposals.set('v2', { titles: [{ title: 'A calm title', votes: 0 }] })
  await app.given(aVideo({ id: 'v2' }))
  service.asked.length = 0
  await app.app.emit('video.added', { id: 'v2', channelId: 'UC1', why: 'new' })
  await round(app)
  assert.deepEqual(service.asked, [`/api/branding/${prefixOf('v2')}`], 'the answers of others are kept')
  assert.equal((await video(app, 'v2')).dearrow.title, 'A calm title')

  await switchTo(app, false)
  await round(app)
  assert.equal('dearrow' in (await video(app)), false)
  service.asked.length = 0
  await app.clock.advance(50 * HOUR)
  assert.deepEqual(service.asked, [])
})

test('an account requests the titles of up to 50 videos by their ids, and the session says that there are some', async (t) => {
  const { app } = await given(t)
  await app.given(aVideo({ id: 'plain' }), aVideo({ id: 'v2', dearrow: { title: 'Calm', last_refresh: 1 } }))
  await switchTo(app, true)
  const titles = (ids: string) => app.as('user').get(`/api/dearrow/?ids=${ids}`)

  assert.deepEqual((await titles('v2,plain,unknown,v2,')).body, { v2: 'Calm' })
  assert.equal((await titles(Array.from({ length: 51 }, (_, at) => `v${at}`).join())).status, 400)
  assert.equal((await titles('x'.repeat(9000))).status, 400)
  assert.deepEqual((await app.as('user').get('/api/session/')).body.community, ['titles'])
})

test('the platform’s own title, a repetition of it, and times outside of the film are no proposals', async (t) => {
  const { app, service } = await given(t)
  await app.given(aVideo({ id: 'same', title: 'A title' }), aVideo({ id: 'own' }))
  const { duration } = (await video(app, 'same')).player
  service.proposals.set('same', {
    titles: [{ title: 'A >title', votes: 3 }],
    thumbnails: [{ timestamp: duration + 1, votes: 3 }],
  })
  service.proposals.set('own', {
    titles: [
      { title: 'Kept', votes: 5, original: true },
      { title: 'Worse', votes: 1 },
    ],
    thumbnails: [{ timestamp: null, original: true, votes: 3 }],
  })
  await switchTo(app, true)
  await round(app)

  for (const id of ['same', 'own']) assert.deepEqual(Object.keys((await video(app, id)).dearrow), ['last_refresh'], id)
})

test('a service that fails, or sends invalid or too much data, changes nothing', async (t) => {
  const { app, service } = await given(t)
  await switchTo(app, true)
  await round(app)
  const known = (await video(app)).dearrow

  for (const bad of [
    { status: 500, body: '' },
    { status: 302, body: '' },
    { status: 429, body: '' },
    { status: 200, body: '<html>' },
    { status: 200, body: '[]' },
    { status: 200, body: `"${'x'.repeat(5 * 1024 * 1024)}"` },
  ]) {
    service.instead = bad
    await assert.rejects(app.app.dearrow.read('v1'), `${bad.status} ${bad.body.slice(0, 9)}`)
    assert.deepEqual((await video(app)).dearrow, known)
  }
  for (const body of [
    '{"v1":7}',
    '{"v1":{"titles":{},"thumbnails":[]}}',
    `{"v1":{"titles":[7,{"title":3},{"title":"${'x'.repeat(600)}"},{"title":" > "},{"title":"\\u200b"}],"thumbnails":[{"timestamp":-1},{"timestamp":"1"}]}}`,
    '{"__proto__":{"titles":[{"title":"x"}],"thumbnails":[]}}',
  ]) {
    service.instead = { status: 200, body }
    await app.app.dearrow.read('v1')
    const { title, thumbnail } = (await video(app)).dearrow
    assert.deepEqual([title === undefined || title === '>', thumbnail], [true, undefined], body.slice(0, 40))
  }
})

for (const { index, skip } of INDEXES)
  describe(`crowd-sourced titles on ${index}`, { skip }, () => {
    test('searches find both titles', async (t) => {
      const { app } = await given(t, await indexSettings(t, index, 'dearrow'))
      await app.given(aVideo({ id: 'v2' }))
      await switchTo(app, true)
      await app.app.dearrow.read('v1')

      for (const query of ['quokka', 'video:quokka', 'believe', 'video:believe']) await found(app, query, ['v1'])
      await found(app, 'video:wombat', [])
      await switchTo(app, false)
      await round(app)
      await found(app, 'quokka', [])
    })
  })

async function found(app: TestApp, query: string, ids: string[]): Promise<void> {
  const { body } = await app.as('user').get(`/api/search/?query=${query}`)
  assert.deepEqual(
    body.results.video_results.map(({ platform_id: id }: { platform_id: string }) => id),
    ids,
    query,
  )
}
