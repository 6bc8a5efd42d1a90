import assert from 'node:assert/strict'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { bytesBelow } from '../../../plugins/plugin-kit/public.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('the size of a folder is that of all files below it, without linked ones', async (t) => {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'a/b'), { recursive: true })
  await writeFile(join(folder, 'one'), 'x'.repeat(5))
  await writeFile(join(folder, 'a/b/two'), 'x'.repeat(9000))
  await symlink(join(folder, 'a'), join(folder, 'loop'))

  assert.equal(await bytesBelow(folder), 9005)
})
