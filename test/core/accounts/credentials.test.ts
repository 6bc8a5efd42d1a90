/** The plugin that provides accounts: there is exactly one, and any plugin can be it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { findBuiltIn } from '../../../config/cli/find-plugins.ts'
import { type Credentials, chooseAccountsPlugin, type Identity } from '../../../core/accounts/credentials.ts'
import { definePlugin, defineRoute } from '../../../core/plugin/define.ts'
import { registerPlugins } from '../../../core/plugin/load.ts'
import { testApp } from '../../support/testing.ts'

const TOKEN = '0123456789abcdef0123456789abcdef01234567'
const open = () => assert.fail('not opened')

test('without a plugin that provides accounts the program does not start, and names the one to re-enable', async (t) => {
  const plugins = (await findBuiltIn()).map(({ plugin }) => plugin)
  const off = new Set(['user'])
  for (const _ of plugins)
    for (const { name, needs } of plugins) if (needs?.some((need) => off.has(need))) off.add(name)

  await assert.rejects(
    testApp(t, { settings: { pluginsOff: [...off] } }),
    /No plugin manages accounts, so nobody could sign in: remove user from AV_PLUGINS_OFF/,
  )
  assert.throws(() => chooseAccountsPlugin([], []), /No plugin manages accounts.*: add one that brings credentials/)
})

test('invalid implementations of credentials are refused by name', () => {
  const register = (...manifests: object[]) =>
    registerPlugins(
      manifests.map((manifest, at) => ({
        plugin: definePlugin({ name: `p${at}`, ...manifest }),
        origin: 'here',
      })),
    )

  assert.throws(() => register({ credentials: {} }), /plugin p0 .*its credentials\.open is required/)
  assert.throws(
    () => register({ credentials: { open }, needs: ['p1'] }, {}),
    /plugin p0 .*opened before p1, and cannot need them/,
  )
  assert.throws(
    () => register({ credentials: { open } }, { credentials: { open } }),
    /the management of accounts has two owners: plugin p0 and plugin p1/,
  )
})

test('a plugin that cannot open the accounts ends the start, by its name', async (t) => {
  const open = () => {
    throw new Error('the directory of people is away')
  }

  await assert.rejects(
    testApp(t, { plugins: [], outside: [definePlugin({ name: 'door', credentials: { open } })] }),
    /^StartError: plugin door: the directory of people is away.*AV_PLUGINS_OFF=door/,
  )
})

test('core gets the account and its rights from whichever plugin provides the accounts', async (t) => {
  const guest: Identity = { id: 7, username: 'guest', isAdmin: false, mayDownload: true }
  const credentials: Credentials = {
    accounts: {} as Credentials['accounts'],
    ensureFirst: async ({ username }) => ({ isNew: false, username }),
    byToken: (token) => (token === TOKEN ? { account: guest, scope: 'download' } : undefined),
    bySession: () => undefined,
    byLink: () => undefined,
    pageSizeOf: () => 0,
    watch: () => undefined,
  }
  const route = (path: string, access: 'downloader' | 'admin') =>
    defineRoute({ method: 'GET', path, access, summary: path, reply: Type.Unknown(), handle: ({ actor }) => actor })
  const routes = [route('/api/door/', 'downloader'), route('/api/door/key/', 'admin')]
  const { url } = await testApp(t, {
    plugins: [definePlugin({ name: 'door', credentials: { open: () => credentials }, routes })],
  })
  const ask = (path: string, token: string) => fetch(url + path, { headers: { authorization: `Token ${token}` } })

  const answer = await ask('api/door/', TOKEN)

  assert.deepEqual(await answer.json(), { ...guest, via: 'token', scope: 'download' })
  assert.equal((await ask('api/door/key/', TOKEN)).status, 403)
  assert.equal((await ask('api/door/', TOKEN.replaceAll('0', 'f'))).status, 401)
})
