/** Addresses for devices without a cookie: one film, for six hours, no longer than the session that requested it. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aVideo, PASSWORD, type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import { Jar } from '../../support/browser-jar.ts'
// While hours pass, missing pictures are extracted from the films.
import '../../support/ffmpeg.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'

const HOUR_MS = 3_600_000

async function withFilms(scope: Scope, options: TestOptions = {}): Promise<TestApp> {
  const app = await testApp(scope, options)
  const folder = join(app.app.settings['mediaDir'] as string, 'UC1')
  await mkdir(folder, { recursive: true })
  await app.given(aChannel({ id: 'UC1' }))
  for (const id of ['v1', 'v2']) {
    await app.given(aVideo({ id, channelId: 'UC1', media_url: `/media/UC1/${id}.mp4` }))
    await writeFile(join(folder, `${id}.mp4`), `film ${id}`)
    await writeFile(join(folder, `${id}.en.vtt`), 'WEBVTT')
  }
  return app
}

/** A user who has signed in with a browser. */
async function signIn(app: TestApp, username = 'user') {
  const root = app.url.replace(/\/$/, '')
  const jar = new Jar()
  const headers = { 'content-type': 'application/json' }
  const post = (path: string, body: object = {}) =>
    jar.ask(root + path, {
      method: 'POST',
      headers: { ...headers, 'x-csrftoken': jar.cookie(root, 'csrftoken') ?? '' },
      body: JSON.stringify(body),
    })
  assert.equal((await post('/login/', { username, password: PASSWORD })).status, 204)
  const link = async (id: string) => {
    const response = await post(`/api/video/${id}/link/`)
    return { status: response.status, body: (await response.json()) as { url: string; expires: number } }
  }
  /** Sends requests as a television does: with nothing but the address. */
  const there = (url: string, init: RequestInit = {}) => fetch(root + url, init)
  return { link, post, there }
}

for (const basePath of ['/', '/archive/'])
  test(`below ${basePath} a film plays by its address alone, and nothing else is accessible`, async (t) => {
    const app = await withFilms(lastFirst(t), { settings: { basePath } })
    const { link, there } = await signIn(app)

    const { status, body } = await link('v1')

    assert.equal(status, 200)
    assert.equal(body.expires, Math.floor(app.clock.now() / 1000) + 6 * 3600)
    const part = await there(body.url, { headers: { range: 'bytes=5-6' } })
    assert.deepEqual([part.status, await part.text()], [206, 'v1'])
    assert.equal((await there(body.url, { method: 'HEAD' })).status, 200)
    const query = body.url.slice(body.url.indexOf('?'))
    const [expires, session, proof] = new URLSearchParams(query).get('signed')!.split('.')
    for (const url of [
      '/media/UC1/v1.mp4',
      `/media/UC1/v2.mp4${query}`,
      `/media/UC1/v1.en.vtt${query}`,
      `/cache/playable/v1.mp4${query}`,
      `/api/video/v1/${query}`,
      `/media/UC1/v1.mp4?signed=${Number(expires) + 1}.${session}.${proof}`,
      `/media/UC1/v1.mp4?signed=${expires}.${session!.replace(/^./, (first) => (first === 'a' ? 'b' : 'a'))}.${proof}`,
      `/media/UC1/v1.mp4?signed=${expires}.${session}.${'A'.repeat(43)}`,
      `/media/UC1/v1.mp4?signed=${expires}.${session}`,
      '/media/UC1/v1.mp4?signed=',
      '/media/UC1/v1.mp4?signed=%00.%ff.x',
    ])
      assert.equal((await there(url)).status, 401, url)
  })

test('it ends after six hours, with the session, and with the account', async (t) => {
  const app = await withFilms(lastFirst(t))
  const [one, two] = [await signIn(app), await signIn(app)]
  const [first, second] = [(await one.link('v1')).body.url, (await two.link('v1')).body.url]
  const statuses = async () => [(await one.there(first)).status, (await one.there(second)).status]
  assert.deepEqual(await statuses(), [200, 200])

  await one.post('/logout/')
  assert.deepEqual(await statuses(), [401, 200])

  const { id } = app.app.accounts.list().find(({ username }) => username === 'user')!
  await app.as('admin').post(`/api/user/${id}/`, { is_active: false })
  assert.deepEqual(await statuses(), [401, 401])

  const admin = await signIn(app, 'admin')
  const { url } = (await admin.link('v2')).body
  await app.clock.advance(6 * HOUR_MS - 1000)
  assert.equal((await admin.there(url)).status, 200)
  await app.clock.advance(1000)
  assert.equal((await admin.there(url)).status, 401)
})

test('it leads to the playable copy if there is one; a token gets no address, and neither does an unknown film', async (t) => {
  const app = await withFilms(lastFirst(t))
  await writeFile(app.app.copies.beginDraft('v1'), 'a copy')
  await app.app.copies.keep('v1')
  const { link, there } = await signIn(app)

  const { url } = (await link('v1')).body

  assert.match(url, /^\/cache\/playable\/v1\.mp4\?signed=/)
  assert.equal(await (await there(url)).text(), 'a copy')
  assert.equal((await link('nobody')).status, 404)
  assert.equal((await app.as('user').post('/api/video/v1/link/', {})).status, 409)
})
