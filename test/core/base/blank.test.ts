/** Names that look empty are refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testApp } from '../../support/testing.ts'

test('every field for a name refuses a name without visible characters, and accepts one with a visible character', async (t) => {
  const app = await testApp(t)
  const asked = (name: string): Array<[path: string, body: object]> => [
    ['/api/playlist/custom/', { playlist_name: name }],
    ['/api/access-token/', { name, scope: 'read' }],
    ['/api/webhook/', { name, url: 'https://example.org/hook', events: ['video.added'] }],
    ['/api/config/user/', { saved_filters: [{ name, query: 'sea' }] }],
    ['/api/place/', { path: '/', label: name }],
  ]

  for (const name of ['\u3164', '\u2800 \u2800', '\u115f\u1160'])
    for (const [path, body] of asked(name)) {
      const { status, text } = await app.as('admin').post(path, body)
      assert.equal(status, 400, `${path} takes ${escape(name)}`)
      assert.match(text, /must not be blank|label must be plain text/)
    }
  for (const [path, body] of asked('🌊').filter(([path]) => path !== '/api/place/'))
    assert.equal((await app.as('admin').post(path, body)).status, 200, path)
})
