/**
 * The API conforms to its own description for generated requests: a short run for each route, the same each time. `make
 * soak` runs longer.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { missingHere } from '../support/required.ts'
import { fuzz, installSchemathesis } from '../support/schemathesis.ts'
import { archive } from './api/archive.ts'
import '../support/long.ts'

test('no generated request causes a defect or an answer outside of the description', async (t) => {
  const reason = await installSchemathesis()
  if (reason) return t.skip(missingHere('schemathesis', reason))
  const app = await archive(t, false, { ytdlpPlugins: null, pluginsAdd: false })
  const { accounts } = app.app

  const { report } = await fuzz({ url: app.url, token: await accounts.token(1), examples: 3, seed: 1 })

  assert.equal(report, undefined, report)
})
