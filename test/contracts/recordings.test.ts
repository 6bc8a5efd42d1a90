/** Our server answers as the reference did, except for the differences in the contract, which one table lists. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Exchange, readExchanges } from './recordings/exchange.ts'
import { archiveAsBackup, Replay, recordedServer, restore } from './recordings/replay.ts'
import { DIFFERENCES, type Difference, EMPTY } from './recordings/table.ts'

/** Before these the recording waited until all started tasks had ended. */
const WAITED = new Set([438, 540, 544, 548, 555, 562, 565])
const SIGNED_IN = 28

const used = new Set<Difference>()

const told = ({ n, auth, method, path, req_body, note }: Exchange, unexplained: string[]): string =>
  [
    `${n}: ${auth} ${method} ${path} ${req_body === null ? '' : JSON.stringify(req_body)} ${note ?? ''}`,
    ...unexplained,
  ].join('\n      ')

test('every recorded answer is reproduced, or the contract defines a difference', async (t) => {
  const app = await recordedServer(t)
  await restore(app, await archiveAsBackup())
  // As configured in the reference: no video is marked as watched automatically.
  await app.app.preferences.change({ progress: { autoWatched: false } })
  const exchanges = readExchanges('recordings.jsonl.gz')
  const replay = new Replay(app, exchanges)
  await replay.begin()

  const failures: string[] = []
  for (const exchange of exchanges) {
    if (WAITED.has(exchange.n)) await app.settled()
    if (exchange.n === SIGNED_IN) await replay.signIn(exchange)
    const unexplained = await replay.play(exchange)
    if (unexplained.length > 0) failures.push(told(exchange, unexplained))
  }

  assert.equal(failures.length, 0, `\n${failures.join('\n')}`)
  assert.equal(exchanges.length, 630)
  for (const row of replay.used) used.add(row)
})

test('an empty archive answers like the reference', async (t) => {
  const app = await recordedServer(t, { isEmpty: true })
  const exchanges = readExchanges('recordings-empty.jsonl').map((exchange) => ({ ...exchange, n: EMPTY + exchange.n }))
  const replay = new Replay(app, exchanges)
  await replay.begin()
  const failures: string[] = []
  for (const exchange of exchanges) {
    const unexplained = await replay.play(exchange)
    if (unexplained.length > 0) failures.push(told(exchange, unexplained))
  }
  assert.equal(failures.length, 0, `\n${failures.join('\n')}`)
  for (const row of replay.used) used.add(row)
})

test('every row of the table explains a difference', () => {
  const idle = DIFFERENCES.filter((row) => !used.has(row)).map(({ section, what }) => `${section}: ${what}`)
  assert.deepEqual(idle, [])
})
