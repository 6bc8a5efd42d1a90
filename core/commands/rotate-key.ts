/** `archivolt rotate-key`: a new secret key, for a data folder that no server is using. */
import { readSources } from '../../config/load.ts'
import { rotateSecretKey } from '../accounts/secret-key.ts'
import { lockFolder } from '../ledger/lock.ts'
import type { OwnCommand } from './own-command.ts'

export const rotateKey: OwnCommand = {
  name: 'rotate-key',
  summary: 'End all sessions and tokens, by a new secret key (stop the server first)',
  async run({ say }) {
    const { dataDir } = readSources()
    const lock = lockFolder(dataDir)
    try {
      await rotateSecretKey(dataDir)
    } finally {
      lock.release()
    }
    say('There is a new secret key: all sessions and tokens have ended')
  },
}
