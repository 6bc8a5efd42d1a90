/** `archivolt rotate-key`: a new secret key, for a data folder that no server is using. */
import { join } from 'node:path'
import { readSources } from '../../config/load-settings.ts'
import { lockFolder } from '../ledger/lock.ts'
import { rotateKey as rotate } from '../ledger/rotate-key.ts'
import { wayOutOf } from '../ledger/sealed-columns.ts'
import { inEnglish } from '../say.ts'
import type { OwnCommand } from './own-command.ts'

export const rotateKey: OwnCommand = {
  name: 'rotate-key',
  summary: 'Create a new secret key, which ends all sessions and tokens (stop the server first)',
  async run({ say }) {
    const { dataDir } = readSources()
    const lock = lockFolder(dataDir)
    try {
      const { sealed, unreadable } = await rotate(join(dataDir, 'ledger.sqlite'))
      say(
        `There is a new secret key: all sessions and tokens have ended${sealed > 0 ? `; secrets in the ledger are sealed with it: ${sealed}` : ''}`,
      )
      if (unreadable.size > 0) say(`There are ${inEnglish(wayOutOf(unreadable))}`)
    } finally {
      lock.release()
    }
  },
}
