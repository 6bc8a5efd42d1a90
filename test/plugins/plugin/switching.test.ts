/** The list of switched-off plugins, which the server and commands change. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { readSwitchedOff } from '../../../core/plugin/switched-off.ts'
import { bundledChild } from '../../support/child.ts'
import { temporaryFolder } from '../../support/folder.ts'

const child = await bundledChild(new URL('./switching-child.ts', import.meta.url))

test('plugins that two processes switch off at the same time all stay off', async (t) => {
  const dataDir = await temporaryFolder(t)
  const lists = ['tide', 'moon'].map((name) => Array.from({ length: 10 }, (_, number) => `${name}${number}`))
  const processes = lists.map((names) => fork(child, [dataDir, ...names]))
  await Promise.all(processes.map((one) => once(one, 'message')))

  const ends = processes.map((one) => once(one, 'exit'))
  for (const one of processes) one.send('begin')

  assert.deepEqual(await Promise.all(ends), [
    [0, null],
    [0, null],
  ])
  assert.deepEqual((await readSwitchedOff(dataDir)).sort(), lists.flat().sort())
})
