/** What the built program does beside serving. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { START } from '../support/server.ts'
import { ROOT } from '../support/sources.ts'
import { aChannel, aVideo, testApp } from '../support/testing.ts'

test('make index-move brings the documents of a data folder to an index from outside', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  await app.close()
  const env = {
    AV_DATA_DIR: app.dataDir,
    AV_PLUGINS_DIR: join(ROOT, 'test/data/plugins/memory'),
    AV_MEMORY_INDEX: 'true',
  }

  assert.match((await move(env, 'elsewhere')).stderr, /TO=elasticsearch, or TO=memory, or TO=embedded/)
  assert.match((await move({ ...env, AV_MEMORY_INDEX: '' }, 'memory')).stderr, /Set AV_MEMORY_INDEX \(and what/)
  const moved = await move(env, 'memory')

  assert.match(moved.stdout, /Copying all documents from the embedded index to memory\n/)
  assert.match(
    moved.stdout,
    /All 3 documents are in memory, counted in both \(3 written now\)\. Start the server with AV_MEMORY_INDEX as it is set now; the embedded index stays as it was/,
  )
})

function move(env: Record<string, string>, target: string): Promise<{ stdout: string; stderr: string }> {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AV_')))
  return new Promise((resolve) => {
    execFile(START, ['index-move', `to-${target}`], { env: { ...clean, ...env } }, (_error, stdout, stderr) =>
      resolve({ stdout, stderr }),
    )
  })
}
