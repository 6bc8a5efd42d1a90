/** Kills the index while documents of an earlier version move into columns: none is lost. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { bundledChild } from '../../support/child.ts'
import '../../support/slow.ts'
import { allOf, filled, openLines } from './filled-lines.ts'
import { asTexts, lineIndex, lineOf, storedIn } from './lines.ts'

const MANY = 5000

const child = await bundledChild(new URL('./books-child.ts', import.meta.url))

test('killed again and again while documents move into columns, it continues and loses none', async (t) => {
  const folder = await filled(t, MANY)
  asTexts(folder)
  let kills = 0

  for (let stored = { texts: MANY, columns: 0 }; stored.texts > 0; stored = storedIn(folder), kills++) {
    const running = spawn(process.execPath, [child, 'pack', folder], { stdio: ['ignore', 'inherit', 'inherit'] })
    const [, signal] = (await once(running, 'exit')) as [number | null, NodeJS.Signals | null]
    assert.equal(signal, 'SIGKILL')
    const { texts, columns } = storedIn(folder)
    assert.equal(texts + columns, MANY)
    assert.ok(columns > stored.columns)
  }

  assert.ok(kills > 1, 'once would be no proof')
  const lines = (await openLines(t, folder)).collection(lineIndex)
  const all = await allOf(lines.scan())
  assert.equal(all.length, MANY)
  for (const { id, doc } of all) assert.deepEqual(doc, lineOf(Number(id.split('-')[1])).doc)
})
