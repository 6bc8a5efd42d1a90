/** `archivolt setup`: downloads or lists the external programs, which `config/tools.sh` defines. */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { childEnvironment, startChild } from '../../core/base/child.ts'
import { isSource, OWN_FOLDER } from '../../core/own-files.ts'
import type { OwnCommand } from './own-command.ts'

const TOOLS = new URL(isSource ? 'config/tools.sh' : '../config/tools.sh', OWN_FOLDER)

/** The variables with paths of programs, and those that configure pip. */
const INSTALLING = /^(AV_(?!\w*(PASSWORD|SECRET|TOKEN|KEY|URL))|PIP_)\w+$/

const installer = () =>
  startChild(fileURLToPath(TOOLS), ['setup'], {
    stdio: 'inherit',
    env: childEnvironment({ isOnline: true, also: INSTALLING }),
  })

export const setup: OwnCommand = {
  name: 'setup',
  summary: 'Install programs that the server needs, and list those that have to be installed by hand',
  async run() {
    const [code] = (await once(installer(), 'exit')) as [number | null]
    if (code !== 0) throw new Error('See above for what to do, then run archivolt setup again')
  },
}
