/** A plugin's own process: it answers, and it can be killed whatever it does. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type OwnProcess, startProcess } from '../../../plugins/plugin-kit/own-process.ts'
import { temporaryFolder } from '../../support/folder.ts'

interface Given {
  own: OwnProcess
  message: Promise<unknown>
  ended: Promise<Error>
}

async function given(t: TestContext, code: string, memoryMb = 256): Promise<Given> {
  const file = join(await temporaryFolder(t), 'worker.ts')
  await writeFile(file, code)
  let own: OwnProcess | undefined
  let tell: (reason: Error) => void = () => undefined
  const ended = new Promise<Error>((resolve) => (tell = resolve))
  const message = new Promise<unknown>((resolve) => {
    own = startProcess(pathToFileURL(file), { memoryMb }, { message: resolve, end: tell })
  })
  t.after(() => own!.kill())
  return { own: own!, message, ended }
}

test('it answers, knows no setting of the server, and ends once it has nothing to do', async (t) => {
  const { own, message, ended } = await given(
    t,
    `process.once('message', (asked) => process.send({ asked, names: Object.keys(process.env) }))`,
  )

  own.send({ list: new Uint8Array([1, 2]) })

  const { asked, names } = (await message) as { asked: unknown; names: string[] }
  assert.deepEqual(asked, { list: new Uint8Array([1, 2]) })
  assert.ok(!names.includes('NODE_OPTIONS') && !names.some((name) => name.startsWith('AV_')), names.join(' '))
  own.kill()
  await ended
})

test('it is killed at once even if it never becomes idle', async (t) => {
  const { own, message, ended } = await given(
    t,
    `process.once('message', () => { process.send('begun'); setImmediate(() => { for (;;); }) })`,
  )
  own.send({})
  await message

  own.kill()

  assert.match((await ended).message, /SIGKILL/)
})

test('it is killed once it exceeds its memory limit, on its heap or outside of it', async (t) => {
  for (const code of [
    `const all = []; for (;;) all.push({ all: [all.length] })`,
    `const all = []; setInterval(() => all.push(Buffer.alloc(16 << 20, 1)), 1)`,
  ]) {
    const { ended } = await given(t, code, 64)

    assert.ok((await ended) instanceof Error)
  }
})
