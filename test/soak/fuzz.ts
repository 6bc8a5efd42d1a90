/** Asks our own API whatever its description allows and forbids, with new seeds on fresh archives, for AV_SOAK_MINUTES (default 30). */
import { randomInt } from 'node:crypto'
import { archive } from '../contracts/api/archive.ts'
import { fuzz, installSchemathesis } from '../support/schemathesis.ts'

const MINUTES = Number(process.env.AV_SOAK_MINUTES ?? 30)
const reason = await installSchemathesis()
if (reason) {
  process.stderr.write(`${reason}\n`)
  process.exit(1)
}

const end = Date.now() + MINUTES * 60_000
for (let round = 1; Date.now() < end; round++) {
  const cleanUps: Array<() => Promise<void>> = []
  const app = await archive({ after: (cleanUp) => void cleanUps.push(cleanUp) })
  const seed = randomInt(2 ** 31)
  process.stdout.write(`round ${round}, seed ${seed}\n`)
  const report = await fuzz({ url: app.url, token: await app.app.accounts.token(1), examples: 50, seed, phases: 'examples,coverage,fuzzing,stateful', maxSeconds: Math.ceil((end - Date.now()) / 1000) })
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
  if (report) {
    process.stdout.write(`${report}\n`)
    process.exitCode = 1
    break
  }
}
