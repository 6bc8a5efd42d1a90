/** The transitions between job states in core/jobs/README.md are those that the ledger allows. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { testClock } from '../../support/clock.ts'
import { ROOT } from '../../support/sources.ts'

const STATES = ['PENDING', 'STARTED', 'RETRY', 'SUCCESS', 'FAILURE', 'REVOKED', 'FAILED']

test('a job makes the transitions of the diagram, and the ledger refuses every other one', async (t) => {
  const readme = await readFile(join(ROOT, 'core/jobs/README.md'), 'utf8')
  const listed = [...readme.matchAll(/^\| ([A-Z]+) \| ([A-Z]+) \|/gm)].map(([, from, to]) => `${from} → ${to}`)
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-states-'))
  const ledger = await openLedger({ file: join(folder, 'ledger.sqlite'), log: openLog('silent'), clock: testClock() })
  t.after(async () => {
    await ledger.close()
    await rm(folder, { recursive: true })
  })

  const allowed: string[] = []
  for (const from of STATES) {
    for (const to of STATES.filter((state) => state !== from)) {
      await ledger
        .write(() => {
          ledger
            .sql(
              `INSERT INTO jobs (id, task, lane, state, payload, created_at) VALUES (?, 'task', 'light', ?, '{}', 0)`,
            )
            .run(`${from} → ${to}`, from)
          ledger.sql('UPDATE jobs SET state = ? WHERE id = ?').run(to, `${from} → ${to}`)
        })
        .then(
          () => allowed.push(`${from} → ${to}`),
          (error: Error) => assert.match(error.message, /a job cannot move between these states/),
        )
    }
  }

  assert.deepEqual(listed.sort(), allowed.sort())
})
