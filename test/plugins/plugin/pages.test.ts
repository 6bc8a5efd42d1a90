/** The pages and buttons of plugins: their list, and the frames in which the built page shows them. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { definePlugin, defineRoute, Type } from '../../../plugins/plugin-kit/public.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { testApp } from '../../support/testing.ts'

test('pages of plugins are listed for those who may see them, with their permitted requests; their modules are served as scripts', async (t) => {
  const folder = await temporaryFolder(t)
  await writeFile(
    join(folder, 'page.ts'),
    `export default ({ root }: { root: HTMLElement }) => root.append('</script>')`,
  )
  const module = pathToFileURL(join(folder, 'page.ts'))
  const route = defineRoute({
    ...{ method: 'GET', path: '/api/tide/', access: 'user', summary: 'x', reply: Type.Object({}) },
    handle: () => ({}),
  })
  const tide = definePlugin({
    ...{ name: 'tide', needs: ['video'], routes: [route] },
    page: { title: 'Tide <b>', module, asks: ['GET /api/video/v1/'] },
  })
  const moon = definePlugin({ name: 'moon', page: { title: 'Moon', module, access: 'viewer' } })
  const sun = definePlugin({ name: 'sun', page: { title: 'Sun', module, access: 'admin' } })
  const star = definePlugin({ name: 'star', playerButton: { title: 'Star', module } })
  const app = await testApp(t, { outside: [tide, moon, sun, star] })
  const password = 'a long enough one'
  await app.app.accounts.create({ username: 'mia', password, isStaff: false, view: { channel: [] } })
  const pagesOf = async (who: string) => (await app.as(who).get('/api/plugin/page/')).body

  assert.deepEqual(await pagesOf('user'), [
    { plugin: 'moon', place: 'navigation', title: 'Moon', asks: [] },
    { plugin: 'star', place: 'player', title: 'Star', asks: [] },
    { plugin: 'tide', place: 'navigation', title: 'Tide <b>', asks: ['GET /api/tide/', 'GET /api/video/v1/'] },
  ])
  assert.deepEqual((await pagesOf('admin')).length, 4)
  assert.deepEqual(await pagesOf('mia'), [{ plugin: 'moon', place: 'navigation', title: 'Moon', asks: [] }])
  assert.equal((await app.as('nobody').get('/api/plugin/page/')).status, 401)

  const frame = await app.as('nobody').get('/plugin-page/tide/')
  assert.match(frame.headers.get('content-security-policy')!, /default-src 'none'.*frame-ancestors 'self'.*sandbox/)
  assert.doesNotMatch(frame.headers.get('content-security-policy')!, /allow-same-origin|unsafe|connect-src/)
  assert.match(frame.text, /<title>Tide &lt;b&gt;<\/title>/)
  const path = /archivolt-module" content="([^"]*)"/.exec(frame.text)![1]!
  const script = await app.as('nobody').get(path)
  assert.deepEqual(
    ['content-type', 'access-control-allow-origin'].map((name) => script.headers.get(name)),
    ['text/javascript; charset=utf-8', '*'],
  )
  assert.match(script.headers.get('cache-control')!, /immutable/)
  assert.doesNotMatch(script.text, /HTMLElement/)
  assert.match((await app.as('nobody').get('/plugin-page/star/player/')).text, /<title>Star<\/title>/)
  for (const gone of [
    '/plugin-page/star/',
    '/plugin-page/tide/player/',
    '/plugin-page/none/',
    path.replace('tide-', 'none-'),
    '/plugin-page/tide/page.ts',
  ])
    assert.equal((await app.as('nobody').get(gone)).status, 404, gone)
})
