/** Headers that protect replies from other sites, and tags that reveal nothing about other accounts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { errors } from '../../../core/base/error.ts'
import { defineRoute } from '../../../core/plugin/define.ts'
import { openTouched } from '../../../core/sources.ts'
import { testApp } from '../../support/testing.ts'
import { testServer } from './given.ts'

const route = (path: string, handle: () => object) =>
  defineRoute({
    method: 'GET',
    path,
    access: 'user',
    summary: path,
    reply: Type.Unknown(),
    revalidates: true,
    handle,
  })

test('a tag reveals nothing about others: it changes only when the reply does, and differs between accounts', async (t) => {
  const touched = openTouched()
  let text = 'a'
  const { ask } = await testServer(t, [route('/text/', () => ({ text }))], { touched })
  const tagOf = async (as: 'admin' | 'user') => (await ask('/text/', { as })).headers.get('etag')!
  const [admins, users] = [await tagOf('admin'), await tagOf('user')]

  touched.touch() // somebody has changed something

  assert.notEqual(users, admins)
  assert.deepEqual([await tagOf('admin'), await tagOf('user')], [admins, users])
  const known = { as: 'user', headers: { 'If-None-Match': users } } as const
  assert.equal((await ask('/text/', known)).status, 304)
  text = 'b'
  touched.touch()
  assert.equal((await ask('/text/', known)).status, 200)
  for (const tag of [admins, users]) assert.match(tag, /^W\/"[\w-]{27}"$/)
})

test('a hidden or missing item is 404, whatever tag the client sends', async (t) => {
  const hidden = route('/hidden/', () => {
    throw errors.notFound('text')
  })
  const { ask } = await testServer(t, [hidden, route('/text/', () => ({ a: 1 }))])

  for (const as of ['admin', 'user'] as const) {
    const tag = (await ask('/text/', { as })).headers.get('etag')!
    for (const known of ['*', tag])
      assert.equal((await ask('/hidden/', { as, headers: { 'If-None-Match': known } })).status, 404)
    for (const known of ['*', tag, `"other", ${tag}`])
      assert.equal((await ask('/text/', { as, headers: { 'If-None-Match': known } })).status, 304)
  }
})

test('HSTS is sent only if https is known to work', async (t) => {
  const plain = await testServer(t, [], { settings: { trustedProxies: ['loopback'] } })
  const isTold = async ({ ask }: typeof plain, headers = {}) =>
    (await ask('/health', { as: 'nobody', headers })).headers.get('strict-transport-security')

  assert.equal(await isTold(plain), null)
  assert.equal(await isTold(plain, { 'X-Forwarded-Proto': 'https' }), 'max-age=31536000')
  const untrusting = await testServer(t, [])
  assert.equal(await isTold(untrusting, { 'X-Forwarded-Proto': 'https' }), null)
  const known = await testServer(t, [], { settings: { publicUrl: 'https://archive.example/' } })
  assert.equal(await isTold(known), 'max-age=31536000')
})

test('other sites cannot load replies, except those with their authorization in the address', async (t) => {
  const linked = { ...route('/film/', () => ({ a: 1 })), signedInQuery: true } as const
  const { ask } = await testServer(t, [route('/text/', () => ({ a: 1 })), linked])
  const policyOf = async (path: string) => (await ask(path)).headers.get('cross-origin-resource-policy')

  assert.equal(await policyOf('/text/'), 'same-origin')
  assert.equal(await policyOf('/nothing/'), 'same-origin')
  assert.equal(await policyOf('/film/'), 'cross-origin')
})

test('signing out clears the replies that the browser has cached', async (t) => {
  const app = await testApp(t)

  const { status, headers } = await app.as('user').post('/logout/', {})

  assert.equal(status, 204)
  assert.equal(headers.get('clear-site-data'), '"cache"')
})
