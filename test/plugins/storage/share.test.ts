/** A data folder on a network share is reported at the start; one on a local disk is not. */
import assert from 'node:assert/strict'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import { type TestApp, testApp } from 'archivolt/testing'

/** A share cannot be mounted without root, so the kernel's answer is replaced. */
function onFileSystem(t: TestContext, type: number): void {
  t.mock.method(fs, 'statfs', async () => ({ type, bavail: 1e9, bfree: 1e9, blocks: 2e9, bsize: 4096 }))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

const shareTold = async (app: TestApp) => {
  const { body } = await app.as('admin').get('/api/storage/data/')
  const told = app.app.jobs.notifications().filter(({ title }) => title === 'The data folder is on a network share')
  return [body.share, told.map(({ level }) => level)]
}

for (const [name, type] of [
  ['NFS', 0x6969],
  ['SMB', 0xff534d42],
  ['SMB', 0xfe534d42 | 0],
] as const)
  test(`on ${name} (${type}) a start says what to do`, async (t) => {
    onFileSystem(t, type)
    assert.deepEqual(await shareTold(await testApp(t)), [name, ['error']])
  })

test('on a local disk nothing is reported', async (t) => {
  assert.deepEqual(await shareTold(await testApp(t)), [null, []])
})
