/** Absolute links: by the setting, else by the request, and nothing that a client makes up. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { definePlugin, defineRoute, Type } from '../../plugins/plugin-kit/public.ts'
import { testApp } from '../support/testing.ts'

const tide = definePlugin({
  name: 'tide',
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/tide/',
      access: 'viewer',
      tokenInQuery: true,
      summary: 'Where it is',
      reply: Type.Object({}),
      handle: ({ request, actor }, { publicUrl }) => ({ at: publicUrl(request) ?? null, who: actor.username }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/tide/',
      access: 'viewer',
      tokenInQuery: true,
      summary: 'Changes it',
      reply: Type.Object({}),
      handle: () => ({}),
    }),
  ],
})

const asked = (url: string, host: string, authorization: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    request(url, { headers: { host, authorization } }, (reply) => {
      reply.setEncoding('utf8')
      reply.on('data', (text: string) => resolve(JSON.parse(text).at))
    })
      .on('error', reject)
      .end()
  })

test('a link has the host of the request, if that is valid', async (t) => {
  const app = await testApp(t, { plugins: [tide], settings: { basePath: '/archive/' } })
  const { token } = await tokenOf(app)

  for (const [host, at] of [
    ['archive.example:8000', 'http://archive.example:8000/archive/'],
    ['[::1]:8000', 'http://[::1]:8000/archive/'],
    ['evil.example/x?', null],
    ['me@evil.example', null],
    ['"><script>', null],
  ])
    assert.equal(await asked(`${app.url}api/tide/`, host!, `Token ${token}`), at, host!)
})

test('AV_PUBLIC_URL overrides the request', async (t) => {
  const app = await testApp(t, { plugins: [tide], settings: { publicUrl: 'https://films.example/' } })

  assert.equal((await app.as('user').get('/api/tide/')).body.at, 'https://films.example/')
  assert.equal(app.app.publicUrl(), 'https://films.example/')
})

test('a route that declares it accepts the token in the query, for reading only', async (t) => {
  const app = await testApp(t, { plugins: [tide] })
  const { token, name } = await tokenOf(app)
  const nobody = app.as('nobody')

  assert.equal((await nobody.get(`/api/tide/?token=${token}`)).body.who, name)
  assert.equal((await nobody.post(`/api/tide/?token=${token}`, {})).status, 401)
  for (const wrong of ['', 'x', token.toUpperCase(), token.slice(1)])
    assert.deepEqual(
      [(await nobody.get(`/api/tide/?token=${wrong}`)).status, (await nobody.get('/api/tide/')).status],
      [401, 401],
      wrong,
    )
})

async function tokenOf({ app }: Awaited<ReturnType<typeof testApp>>): Promise<{ token: string; name: string }> {
  const { id, username } = app.accounts.list().find(({ is_staff }) => !is_staff)!
  return { token: await app.accounts.token(id), name: username }
}
