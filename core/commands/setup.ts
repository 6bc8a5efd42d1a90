/** `archivolt setup`: fetches, or names, the programs outside; what they are is written in `config/tools.sh`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { isSource, OWN_FOLDER } from '../own-files.ts'
import type { OwnCommand } from './own-command.ts'

const TOOLS = new URL(isSource ? './config/tools.sh' : '../config/tools.sh', OWN_FOLDER)

export const setup: OwnCommand = {
  name: 'setup',
  summary: 'Install the downloader beside the program, and name what is missing on this machine',
  async run() {
    const [code] = (await once(spawn(fileURLToPath(TOOLS), ['setup'], { stdio: 'inherit' }), 'exit')) as [number | null]
    if (code !== 0) throw new Error('What is above says what to do; then run archivolt setup again')
  },
}
