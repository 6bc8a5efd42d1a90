/** The answers that a connection caches. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from '../../../plugins/sqlite/connection.ts'
import { temporaryFolder } from '../../support/folder.ts'

async function given(t: TestContext) {
  const connection = connect(join(await temporaryFolder(t), 'index.sqlite'), { isReader: false })
  t.after(() => connection.close())
  connection.db.exec('CREATE TABLE word (text TEXT) STRICT')
  let found = 0
  return {
    connection,
    /** @returns how many had to be read again */
    ask: (keys: readonly string[]): number => {
      const before = found
      for (const key of keys) connection.cached(key, () => ++found)
      return found - before
    },
  }
}

const keys = (count: number, of = 'word'): string[] => Array.from({ length: count }, (_, at) => `${of} ${at}`)

test('recent answers are cached, however much else is requested; the oldest are dropped', async (t) => {
  const { ask } = await given(t)
  assert.equal(ask(keys(1000)), 1000)
  assert.equal(ask(keys(1000)), 0)

  ask(keys(1200, 'other'))

  assert.equal(ask(keys(1200, 'other')), 0)
  assert.equal(ask(keys(1)), 1)
})

test('a write clears the cache', async (t) => {
  const { connection, ask } = await given(t)
  ask(keys(3))

  connection.sql('INSERT INTO word VALUES (?)').run('new')

  assert.equal(ask(keys(3)), 3)
})

test('the cache is cleared when memory is released', async (t) => {
  const { connection, ask } = await given(t)
  ask(keys(3))

  connection.relax()

  assert.equal(ask(keys(3)), 3)
})
