/** What is copied first: everything that no platform and no other copy has. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stagesOf } from '../../../plugins/offsite/selection.ts'
import { testApp } from '../../support/testing.ts'

test('old pictures, the cookie and the settings, which cannot be fetched again, are among the records', async (t) => {
  const { app, dataDir } = await testApp(t)
  const only = ['history', 'cookie.txt', 'config.json'].map((name) => join(dataDir, name))
  await mkdir(only[0]!)
  for (const path of only.slice(1)) await writeFile(path, '{}')

  const { value } = await stagesOf(app as never, new AbortController().signal).next()

  assert.deepEqual([value?.name, only.filter((path) => !value?.paths.includes(path))], ['records', []])
})
