/** What is copied first: all that no platform and no other copy has. */
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stagesOf } from '../../../plugins/offsite/selection.ts'
import { testApp } from '../../support/testing.ts'

test('old pictures, which cannot be fetched again, are among the records', async (t) => {
  const { app, dataDir } = await testApp(t)
  const pictures = join(dataDir, 'history')
  await mkdir(pictures)

  const { value } = await stagesOf(app as never, new AbortController().signal).next()

  assert.deepEqual([value?.name, value?.paths.includes(pictures)], ['records', true])
})
