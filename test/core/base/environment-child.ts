/** Starts programs as the server does, and prints the environment of each; for child.test.ts. */
import { once } from 'node:events'
import { childEnvironment, runChild, startChild } from '../../../core/base/child.ts'

const TELL = 'process.stdout.write(JSON.stringify(process.env))'
const args = ['-e', TELL]

const started = startChild(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
const [first] = (await once(started.stdout!, 'data')) as [Buffer]
const second = await new Promise((resolve) => runChild(process.execPath, args, {}, (_error, output) => resolve(output)))
const online = startChild(process.execPath, args, {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: childEnvironment({ isOnline: true, also: /^PIP_\w+$/ }),
})
const [third] = (await once(online.stdout!, 'data')) as [Buffer]
process.stdout.write(JSON.stringify([first, second, third].map((text) => JSON.parse(String(text)))))
