/** What a connection keeps of its answers. */
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
    /** @returns how many had to be found anew */
    ask: (keys: readonly string[]): number => {
      const before = found
      for (const key of keys) connection.kept(key, () => ++found)
      return found - before
    },
  }
}

const keys = (count: number, of = 'word'): string[] => Array.from({ length: count }, (_, at) => `${of} ${at}`)

test('what was asked for lately is kept, however much is asked for besides; the oldest goes', async (t) => {
  const { ask } = await given(t)
  assert.equal(ask(keys(1000)), 1000)
  assert.equal(ask(keys(1000)), 0)

  ask(keys(1200, 'other'))

  assert.equal(ask(keys(1200, 'other')), 0)
  assert.equal(ask(keys(1)), 1)
})

test('after a write nothing is kept', async (t) => {
  const { connection, ask } = await given(t)
  ask(keys(3))

  connection.sql('INSERT INTO word VALUES (?)').run('new')

  assert.equal(ask(keys(3)), 3)
})

test('what is kept goes when memory is given back', async (t) => {
  const { connection, ask } = await given(t)
  ask(keys(3))

  connection.relax()

  assert.equal(ask(keys(3)), 3)
})
