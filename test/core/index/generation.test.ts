/** If the ledger or the index was replaced by an older copy, the next start says so. */
import assert from 'node:assert/strict'
import { cp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aVideo, PASSWORD, type TestApp, testApp } from 'archivolt/testing'
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

/** Runs while the ledger has an account that the older ledger, which is then put back, does not have. */
async function withLostAccount(t: TestContext, work: (app: TestApp, lost: number) => Promise<unknown>) {
  const { app } = await given(t)
  const putBack = await kept(app, 'ledger.sqlite', t)
  const { body } = await app.as('admin').post('/api/user/', { username: 'lost', password: PASSWORD })
  await work(app, body.id)
  await putBack()
  return { app, lost: body.id as number }
}

test('a token that was revoked in the newer ledger never comes back', async (t) => {
  const { app } = await given(t)
  const renew = async () => {
    await app.app.accounts.revokeToken(1)
    return app.app.accounts.token(1)
  }
  const putBack = await kept(app, 'ledger.sqlite', t)
  const revoked = await renew()
  await app.app.accounts.revokeToken(1)

  await putBack()

  assert.notEqual(await renew(), revoked)
})

test('an account that is added after an older ledger was put back gets neither the id nor the token of a lost one', async (t) => {
  let lostToken!: string
  const { app, lost } = await withLostAccount(t, async (before, id) => {
    lostToken = await before.app.accounts.token(id)
  })

  const { body: added } = await app.as('admin').post('/api/user/', { username: 'new', password: PASSWORD })

  assert.ok(added.id > lost, `${added.id} is a new id`)
  assert.notEqual(await app.app.accounts.token(added.id), lostToken)
  const next = await app.as('admin').post('/api/user/', { username: 'next', password: PASSWORD })
  assert.equal(next.body.id, added.id + 1)
})
