/** A data folder that a server has left, for tests of the next start. */
import { cp, rm } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { temporaryFolder } from './folder.ts'
import { type TestApp, type TestOptions, testApp, testClock } from './testing.ts'

/** @param fill  what the server does before it ends */
export async function leftBehind(
  t: TestContext,
  fill: (app: TestApp) => Promise<unknown>,
  options: TestOptions = {},
): Promise<string> {
  const dataDir = await temporaryFolder(t)
  const app = await testApp({ after: () => undefined }, { ...options, clock: testClock(Date.now()) })
  await app.settled()
  await fill(app)
  await app.close()
  await cp(app.dataDir, dataDir, { recursive: true })
  await rm(app.dataDir, { recursive: true })
  return dataDir
}
