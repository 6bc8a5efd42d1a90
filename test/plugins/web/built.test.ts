/** The page of the built program, as users get it: all files that its document names exist. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '../../support/folder.ts'
import { startServer } from '../../support/server.ts'

test('the built program serves the page and all its files', async (t) => {
  const server = await startServer(t, await temporaryFolder(t))

  const page = await server.api('GET', '/')

  assert.equal(page.status, 200)
  const named = [...page.bytes.toString().matchAll(/(?:src|href)="(\/[^"]+\.\w+)"/g)].map(([, path]) => path!)
  assert.ok(named.some((path) => /^\/assets\/app-\w+\.js$/.test(path)))
  for (const path of named) assert.equal((await server.api('GET', path)).status, 200, path)
})
