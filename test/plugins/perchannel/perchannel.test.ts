/**
 * Preferences of a single channel: which are allowed, which value applies, and that they are removed and restored with
 * the channel.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { definePlugin, Type } from 'archivolt'
import { aChannel, testApp } from 'archivolt/testing'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'

const tide = definePlugin({
  name: 'tide',
  preferences: {
    tide: {
      height: Type.Integer({ default: 1, minimum: 0, maximum: 9, title: 'Height', 'x-per-channel': true }),
      names: Type.Array(Type.String(), { default: [], title: 'Names', 'x-per-channel': true }),
      general: Type.Integer({ default: 1, title: 'General' }),
      key: Type.String({ default: '', title: 'Key', 'x-secret': 'whole', 'x-per-channel': true }),
    },
  },
})

async function given(t: TestContext) {
  const app = await testApp(t, { outside: [tide] })
  await app.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }))
  const admin = app.as('admin')
  const change = (values: object) => admin.post('/api/channel/UC1/preference/', { tide: values })
  const heightOf = (id: string) => (app.app.perChannel.section(id, 'tide' as never) as { height: number }).height
  return { app, admin, change, heightOf }
}

test("a channel's own value applies to it, the general one to others, and again once the own value is removed", async (t) => {
  const { admin, change, heightOf } = await given(t)

  assert.deepEqual((await change({ height: 5, names: ['ebb'] })).body, { tide: { height: 5, names: ['ebb'] } })
  await admin.post('/api/config/', { tide: { height: 3 } })

  assert.deepEqual([heightOf('UC1'), heightOf('UC2')], [5, 3])
  assert.deepEqual((await change({ height: null })).body, { tide: { names: ['ebb'] } })
  assert.equal(heightOf('UC1'), 3)
})

test('a preference that channels cannot have, or an invalid value, is refused by name and changes nothing', async (t) => {
  const { app, change } = await given(t)
  const refused: Array<[values: object, field: string]> = [
    [{ names: ['ebb'], height: 10 }, 'tide.height'],
    [{ names: [1] }, 'tide.names.0'],
    [{ general: 2 }, 'tide.general'],
    [{ key: 'k' }, 'tide.key'],
    [{ toString: 1 }, 'tide.toString'],
  ]

  for (const [values, field] of refused) {
    const { status, body } = await change(values)
    assert.deepEqual([status, Object.keys(body.fields)], [400, [field]])
  }
  assert.deepEqual(app.app.perChannel.own('UC1'), {})
})

test('its own values go to the bin with the channel, and are restored with it', async (t) => {
  const { app, admin, change } = await given(t)
  await change({ height: 5 })

  const { removal } = (await admin.delete('/api/channel/UC1/')).body
  await app.settled()
  assert.deepEqual(app.app.perChannel.own('UC1'), {})
  await admin.post('/api/bin/restore/', { removal })

  assert.deepEqual(app.app.perChannel.own('UC1'), { tide: { height: 5 } })
})

for (const { index, skip } of INDEXES) {
  test(`backups contain them: a restore replaces them, unless the backup has none, on ${index}`, {
    skip,
  }, async (t) => {
    const scope = lastFirst(t)
    const settings = await indexSettings(scope, index, 'perchannel')
    const app = await testApp(scope, { outside: [tide], settings })
    await app.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }))
    const admin = app.as('admin')
    const change = (id: string, height: number | null) => app.app.perChannel.change(id, { tide: { height } })
    const backUp = async () => {
      await admin.post('/api/backup/')
      await app.settled()
      return (await admin.get('/api/backup/')).body[0].filename as string
    }
    const restore = async (filename: string) => {
      await admin.post(`/api/backup/${filename}/`)
      await app.settled()
      return ['UC1', 'UC2'].map((id) => app.app.perChannel.own(id))
    }

    const without = await backUp()
    await change('UC2', 7)
    assert.deepEqual(await restore(without), [{}, { tide: { height: 7 } }])

    await change('UC1', 5)
    await change('UC2', null)
    const filename = await backUp()
    await change('UC1', null)
    await change('UC2', 8)
    const preview = (await admin.get(`/api/backup/${filename}/preview/`)).body.perchannel

    assert.deepEqual(preview, { backup: 1, now: 1, added: 1, removed: 1, changed: 0 })
    assert.deepEqual(await restore(filename), [{ tide: { height: 5 } }, {}])
  })
}
