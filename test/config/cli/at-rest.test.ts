/** Commands on a data folder of another user. */
import assert from 'node:assert/strict'
import { chown, readdir } from 'node:fs/promises'
import { test } from 'node:test'
import { indexMove } from '../../../config/cli/index-move.ts'
import { rotateKey } from '../../../config/cli/rotate-key.ts'
import { openLog } from '../../../core/log.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('root is told to run a command as the owner of the data folder, and leaves no file in it', async (t) => {
  const folder = await temporaryFolder(t)
  if (process.getuid?.() === 0) await chown(folder, 1000, 1000)
  t.mock.method(process as { getuid(): number }, 'getuid', () => 0)
  const before = process.env['AV_DATA_DIR']
  t.after(() => {
    if (before === undefined) delete process.env['AV_DATA_DIR']
    else process.env['AV_DATA_DIR'] = before
  })
  process.env['AV_DATA_DIR'] = folder
  for (const command of [rotateKey, indexMove]) {
    const input = {
      taken: ['embedded'],
      options: {},
      say: () => undefined,
      secret: async () => '',
      log: openLog('silent'),
    }
    const run = async () => command.run(input)
    await assert.rejects(
      run,
      /belongs to another user: run the command as that user, with sudo -u '#\d+'/,
      command.name,
    )
  }
  assert.deepEqual(await readdir(folder), [])
})
