/** A process that switches plugins off, one after the other, once it is told to; for switching.test.ts. */
import { once } from 'node:events'
import { writeSwitchedOff } from '../../../core/plugin/switched-off.ts'

const [dataDir = '', ...names] = process.argv.slice(2)
process.send!('ready')
await once(process, 'message')
for (const name of names) await writeSwitchedOff(dataDir, name, true)
process.disconnect()
