/** The lists of plugins and of their pages on the wire. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { definePlugin, defineRoute, Type } from '../../../plugins/plugin-kit/public.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { testApp } from '../../support/testing.ts'

test('admins see which plugins are on, where they come from, and the last failure of each', async (t) => {
  const fails = defineRoute({
    method: 'GET',
    path: '/api/tide/',
    access: 'open',
    summary: 'x',
    reply: Type.Object({}),
    handle() {
      throw new Error('no water in /srv/secret/basin.db of https://tide:secret@example.org/')
    },
  })
  const tide = definePlugin({ name: 'tide', version: '1.2.0', needs: ['video'], routes: [fails] })
  const app = await testApp(t, {
    outside: [tide, definePlugin({ name: 'moon' })],
    settings: { pluginsOff: ['moon', 'stats', 'metrics'] },
  })
  await app.as('nobody').get('/api/tide/')

  const { body } = await app.as('admin').get('/api/plugin/')

  const one = (name: string) => body.find((plugin: { name: string }) => plugin.name === name)
  const failure = {
    date: Math.floor(app.clock.now() / 1000),
    message: 'no water in …/basin.db of https://***@example.org/',
  }
  assert.deepEqual(one('tide'), {
    name: 'tide',
    version: '1.2.0',
    built_in: false,
    enabled: true,
    needs: ['video'],
    routes: 1,
    tasks: 0,
    brings: { page: false, button: false, tasks: [], preferences: [] },
    last_failure: failure,
  })
  assert.deepEqual(one('plugin'), {
    name: 'plugin',
    version: app.app.version,
    built_in: true,
    enabled: true,
    needs: [],
    routes: 7,
    tasks: 1,
  })
  assert.deepEqual(
    [one('moon').enabled, one('moon').built_in, one('stats').enabled, one('stats').built_in],
    [false, false, false, true],
  )
  assert.equal((await app.as('admin').get('/api/stats/video/')).status, 404)
  assert.equal((await app.as('user').get('/api/plugin/')).status, 403)
})

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
