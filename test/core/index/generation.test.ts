/** If the ledger or the index was replaced by an older copy, the next start says so. */
import assert from 'node:assert/strict'
import { cp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aVideo, type TestApp, testApp } from 'archivolt/testing'
import { temporaryFolder } from '../../support/folder.ts'

/** A server, and the messages of its starts since the last call. */
async function given(t: TestContext) {
  const heard: string[] = []
  const listener = definePlugin({
    name: 'listener',
    on: {
      'ledger.replaced': () => () => void heard.push('ledger'),
      'index.replaced': () => () => void heard.push('index'),
    },
  })
  const app = await testApp(t, { replace: [listener], hasCopies: true })
  await app.given(aVideo())
  return { app, heard: () => heard.splice(0) }
}

async function kept(app: TestApp, name: string, t: TestContext): Promise<() => Promise<void>> {
  const folder = await temporaryFolder(t)
  await app.close()
  await cp(join(app.dataDir, name), join(folder, name))
  await app.restart()
  return async () => {
    await app.close()
    await cp(join(folder, name), join(app.dataDir, name))
    await app.restart()
  }
}

for (const [name, file] of [
  ['ledger', 'ledger.sqlite'],
  ['index', 'index.sqlite'],
] as const)
  test(`an older ${name} is reported once`, async (t) => {
    const { app, heard } = await given(t)
    await app.restart()
    const putBack = await kept(app, file, t)
    assert.deepEqual(heard(), [], 'nothing is told of a start like any other')

    await putBack()

    assert.deepEqual(heard(), [name])
    await app.restart()
    assert.deepEqual(heard(), [])
  })

test('a copy of the ledger counts as older, however soon it is restored', async (t) => {
  const { app, heard } = await given(t)
  await app.close()
  const copies = join(app.dataDir, 'ledger-copies')
  const [copy] = await readdir(copies)
  await cp(join(copies, copy!), join(app.dataDir, 'ledger.sqlite'))

  await app.restart()

  assert.deepEqual(heard(), ['ledger'])
})

test('a recovered ledger is older than the index', async (t) => {
  const { app, heard } = await given(t)
  await app.close()
  await writeFile(join(app.dataDir, 'ledger.sqlite'), 'no database'.repeat(1000))

  await app.restart()

  assert.deepEqual(heard(), ['ledger'])
})

test('a plugin that failed to handle the message gets it again at the next start', async (t) => {
  let isFailing = true
  const heard: string[] = []
  const listener = definePlugin({
    name: 'listener',
    on: {
      'ledger.replaced': () => () => {
        if (isFailing) throw new Error('not now')
        heard.push('ledger')
      },
    },
  })
  const app = await testApp(t, { replace: [listener] })
  const putBack = await kept(app, 'ledger.sqlite', t)

  await putBack()
  assert.deepEqual(heard, [])
  isFailing = false
  await app.restart()

  assert.deepEqual(heard, ['ledger'])
})

test('a lost index is reported as lost, not as older', async (t) => {
  const { app, heard } = await given(t)
  await app.close()
  await rm(join(app.dataDir, 'index.sqlite'))

  await app.restart()

  assert.deepEqual(heard(), [])
  await app.restart()
  assert.deepEqual(heard(), [])
})
