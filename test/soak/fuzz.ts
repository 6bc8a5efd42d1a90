/**
 * Sends requests that our API description allows or forbids, as an admin, a user and an anonymous client, with new
 * seeds on new archives. The number is configurable (100,000).
 */
import { randomInt } from 'node:crypto'
import { archive } from '../contracts/api/archive.ts'
import { fuzz, installSchemathesis } from '../support/schemathesis.ts'

const CASES = Number(process.argv[2] ?? process.env['CASES'] ?? 100_000)
const ROUND_SECONDS = 300
const ASKERS = ['admin', 'user', 'nobody'] as const

const reason = await installSchemathesis()
if (reason) {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

async function round(asker: (typeof ASKERS)[number], seed: number): Promise<number> {
  const cleanUps: Array<() => Promise<void> | void> = []
  // No extractor knows the platform, so lookups fail at once instead of being retried.
  const app = await archive({ after: (cleanUp) => void cleanUps.push(cleanUp) }, false, { ytdlpPlugins: null })
  try {
    const { accounts } = app.app
    const account = accounts.list().find(({ is_staff }) => is_staff === (asker === 'admin'))
    const token = asker === 'nobody' ? undefined : await accounts.token(account!.id)
    const { cases, report } = await fuzz({
      url: app.url,
      token,
      readerToken: await accounts.token(account!.id),
      examples: 50,
      seed,
      phases: 'examples,coverage,fuzzing,stateful',
      maxSeconds: ROUND_SECONDS,
    })
    if (report) {
      process.stdout.write(`${report}\n`)
      process.exitCode = 1
    }
    return cases
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  }
}

let asked = 0
for (let turn = 0; asked < CASES; turn++) {
  const [asker, seed] = [ASKERS[turn % ASKERS.length]!, randomInt(2 ** 31)]
  asked += await round(asker, seed)
  process.stdout.write(`${asked} requests asked; the last ones as ${asker}, seed ${seed}\n`)
}
