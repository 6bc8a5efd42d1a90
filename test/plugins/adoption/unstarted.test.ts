/** An import whose task was never started, because the server died or the ledger could not store the job. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { errors } from '../../../core/base/error.ts'
import { say } from '../../../core/base/say.ts'
import { commanded, scanned } from '../../support/adopting.ts'
import { handAt } from '../../support/other-work.ts'
import { type PlacesApp, placesApp } from '../../support/places.ts'
import '../../support/slow.ts'
import { type TestOptions, testApp } from '../../support/testing.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const ONE = 'aaaaaaaaaaa'

async function openPlace(t: TestContext, options: TestOptions = {}) {
  const app = await placesApp(t, options)
  const place = await app.place('old')
  await layFilm(app, `old/${ONE}.mp4`, infoOf(ONE))
  return { app, place }
}

for (const [state, then] of [
  ['scanning', 'planned'],
  ['adopting', 'adopted'],
  ['undoing', 'undone'],
] as const)
  test(`an import that is ${state} without a job continues at the next start`, async (t) => {
    const { app, place } = await openPlace(t)
    const id = state === 'scanning' ? await app.app.adoptions.create(place, '', '') : await scanned(app, place)
    if (state === 'undoing') await commanded(app, id, { command: 'adopt' })
    if (state !== 'scanning') await app.app.adoptions.setState(id, state)
    await app.close()

    const next = await testApp(t, { dataDir: app.dataDir, settings: { libraryRoots: [app.root] } })
    await next.settled()

    assert.equal(next.app.adoptions.get(id).state, then)
  })

test('an import that could not be started has failed, and the next one begins', async (t) => {
  const { app, place } = await openPlace(t)
  t.mock.method(app.app.jobs, 'start', () => Promise.reject(errors.unavailable('The disk is full')), { times: 1 })
  const begin = () => app.as('admin').post('/api/adoption/', { place })
  assert.equal((await begin()).status, 503)
  const [failed] = (await app.as('admin').get('/api/adoption/')).body.adoptions
  assert.deepEqual([failed.state, failed.reason], ['failed', 'it could not be started'])

  assert.equal((await begin()).status, 200)
})

const shown = async (app: PlacesApp) => (await app.as('admin').get('/api/adoption/')).body.adoptions[0]

test('a scan whose folder is removed from the list meanwhile has failed, and its plan can be deleted', async (t) => {
  let remove: (() => Promise<unknown>) | undefined
  const hand = handAt('adoption.look', 'after', async () => void (await remove?.()))
  const { app, place } = await openPlace(t, { replace: [hand] })
  remove = () => app.as('admin').delete(`/api/place/${place}/`)

  const { body } = await app.as('admin').post('/api/adoption/', { place })
  await app.settled()

  const { state, reason } = await shown(app)
  assert.deepEqual([state, reason], ['failed', 'place not found'])
  assert.equal((await app.as('admin').delete(`/api/adoption/${body.id}/`)).status, 200)
})

test('an import that waits for its folder has failed once the folder is removed from the list', async (t) => {
  const { app, place } = await openPlace(t)
  const id = await scanned(app, place)
  await app.app.adoptions.setState(
    id,
    'adopting',
    say`The import continues when “${{ label: 'old' }}” is available again`,
  )

  assert.equal((await app.as('admin').delete(`/api/place/${place}/`)).status, 200)

  const { state, reason } = await shown(app)
  assert.deepEqual([state, reason], ['failed', 'place not found'])
})

test('of two scans of a folder that are asked for at the same moment one begins', async (t) => {
  const { app, place } = await openPlace(t)
  const begin = () => app.as('admin').post('/api/adoption/', { place })

  const both = await Promise.all([begin(), begin()])

  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
})
