/** Clients that generators create from the API description compile, and get the answers that they expect. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { PASSWORD } from 'archivolt/testing'
import { temporaryFolder } from '../support/folder.ts'
import { installGenerators, pythonClient, typescriptClient } from '../support/generators.ts'
import { missingHere } from '../support/required.ts'
import { archive, OTHER_CHANNEL, PENDING, SECOND, THIRD, VIDEO } from './api/archive.ts'

for (const [language, makeClient] of [
  ['TypeScript', typescriptClient],
  ['Python', pythonClient],
] as const)
  test(`a generated client in ${language} lists, searches, queues, marks as watched and subscribes`, async (t) => {
    const reason = await installGenerators()
    if (reason) return t.skip(missingHere('generators', reason))
    const app = await archive(t, false, { ytdlpPlugins: null })
    const admin = app.as('admin')
    const { text: description } = await admin.get('/api/schema/')
    const client = await makeClient(join(await temporaryFolder(t), 'client'), description)

    const made = await client.generate()
    const { code, output } = await client.call([app.url, PASSWORD, VIDEO, PENDING, OTHER_CHANNEL])

    assert.equal(made.code, 0, made.output)
    assert.equal(code, 0, output)
    assert.deepEqual(JSON.parse(output), {
      statuses: Array(11).fill(200),
      ids: [THIRD, SECOND, VIDEO],
      title: 'Sourdough bread',
      found: 2,
      status: 'priority',
      position: 42,
      entries: 1,
      subscribed: true,
    })
    const { player } = (await admin.get(`/api/video/${VIDEO}/`)).body
    assert.deepEqual([player.watched, player.position], [true, 42])
    return undefined
  })
