/** A damaged index file is recorded, moved aside once, and recorded again if the next one is damaged, too. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testClock } from 'archivolt/testing'
import { openLog } from '../../../core/log.ts'
import { openDamage } from '../../../plugins/sqlite/damage.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('a file that is damaged after another was moved aside is recorded as well', async (t) => {
  const file = join(await temporaryFolder(t), 'index.sqlite')
  writeFileSync(file, 'torn')
  const moved: string[] = []
  const onDamaged = async (to: string) => void moved.push(to)
  const damage = openDamage({ file, log: openLog('silent'), clock: testClock(), onDamaged })

  damage.note(new Error('malformed'))
  assert.ok(damage.isNoted)
  const aside = await damage.moveAside()
  assert.deepEqual([moved, existsSync(aside), existsSync(file), damage.isNoted], [[aside], true, false, false])
  damage.note(new Error('malformed again'))

  assert.ok(damage.isNoted)
})
