/** The list of plugins on the wire. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { definePlugin, defineRoute, Type } from '../../../plugins/plugin-kit/public.ts'
import { testApp } from '../../support/testing.ts'

test('plugins that are switched off at the same time all stay off', async (t) => {
  const names = ['tide', 'moon', 'wind']
  const app = await testApp(t, { outside: names.map((name) => definePlugin({ name })) })

  const replies = await Promise.all(
    names.map((name) => app.as('admin').post(`/api/plugin/${name}/`, { enabled: false })),
  )

  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
  )
  const stored = JSON.parse(await readFile(join(app.dataDir, 'plugins/off.json'), 'utf8')) as string[]
  assert.deepEqual(stored.sort(), names.toSorted())
})

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
